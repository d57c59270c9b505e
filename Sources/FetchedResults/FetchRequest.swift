// The description of a controller's content: a query and its sections.
import StillingWell

/// A query, and how its objects are divided into sections.
///
///     let request = FetchRequest(Note.self) { $0.where(\.stars > 2).sorted(by: \.title) }.sectioned(by: \.group)
public struct FetchRequest<Object: StoredObject>: Sendable {
    private let query: @Sendable (Results<Object>) -> Results<Object>
    private var section: @Sendable (Results<Object>) -> FetchedRows<Object>

    /// Makes a request for objects of a class in one section.
    /// - Parameter query: filters and sorts the objects. Called on the thread that fetches.
    public init(
        _ type: Object.Type = Object.self, _ query: @escaping @Sendable (Results<Object>) -> Results<Object> = { $0 }
    ) {
        self.query = query
        section = { FetchedRows($0) }
    }

    /// Returns the request with sections, one per value of a property and ordered by it. Within a section the query's
    /// order is kept. The query must not be limited. A section's name is the value as text.
    public func sectioned<Key: StorableValue>(
        by keyPath: KeyPath<Object, Key> & Sendable, ascending: Bool = true
    ) -> FetchRequest { sectioned { FetchedRows($0.sectioned(by: keyPath, ascending: ascending), function: nil) } }

    /// Returns the request with sections, one per value that a function returns for a property. The query must not be
    /// limited.
    /// - Parameters:
    ///   - name: identifies the function in a controller's cache. Functions cannot be compared, so a changed function
    ///     needs another name, also in a later version of the program. nil keeps the sections out of the cache.
    ///   - function: must always return the same key for the same value. Called on several threads.
    public func sectioned<Value: StorableValue, Key: StorableValue>(
        by keyPath: KeyPath<Object, Value> & Sendable, ascending: Bool = true, named name: String? = nil,
        _ function: @escaping @Sendable (Value) -> Key
    ) -> FetchRequest {
        let known = name.map { SectionFunctionName.known($0) } ?? .unknown
        return sectioned { FetchedRows($0.sectioned(by: keyPath, ascending: ascending, function), function: known) }
    }

    private func sectioned(_ section: @escaping @Sendable (Results<Object>) -> FetchedRows<Object>) -> FetchRequest {
        var request = self
        request.section = section
        return request
    }

    /// Returns the rows on a connection. Evaluates nothing yet.
    func rows(on connection: Connection) throws -> FetchedRows<Object> {
        section(query(try connection.objects(Object.self)))
    }
}
