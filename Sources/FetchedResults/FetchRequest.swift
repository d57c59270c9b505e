// What a controller shows: objects of a class, those that pass, in an order, in sections. A value that runs nothing.
import StillingWell

/// A query, and how its objects are divided into sections.
///
///     let request = FetchRequest(Note.self) { $0.where(\.stars > 2).sorted(by: \.title) }.sectioned(by: \.group)
public struct FetchRequest<Object: StoredObject>: Sendable {
    private let query: @Sendable (Results<Object>) -> Results<Object>
    private var section: @Sendable (Results<Object>) -> FetchedRows<Object>

    /// Objects of a class in one section.
    /// - Parameter query: filters and sorts them. It is called on whichever thread fetches.
    public init(
        _ type: Object.Type = Object.self, _ query: @escaping @Sendable (Results<Object>) -> Results<Object> = { $0 }
    ) {
        self.query = query
        section = { FetchedRows($0) }
    }

    /// The same objects in sections, one per value of a property and ordered by it; within a section in the order of the
    /// query, which must not be limited. The name of a section is the value in words.
    public func sectioned<Key: StorableValue>(
        by keyPath: KeyPath<Object, Key> & Sendable, ascending: Bool = true
    ) -> FetchRequest { sectioned { FetchedRows($0.sectioned(by: keyPath, ascending: ascending), function: nil) } }

    /// The same objects in sections, one per value that a function gives for a property. The query must not be limited.
    /// - Parameters:
    ///   - name: what the function is known by in a controller's cache: functions cannot be compared, so another one, in a
    ///     later version of the program too, needs another name. Nil keeps the sections out of the cache.
    ///   - function: gives the same key for the same value, always. It is called on several threads.
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

    /// The rows on a connection. Evaluates nothing yet.
    func rows(on connection: Connection) throws -> FetchedRows<Object> {
        section(query(try connection.objects(Object.self)))
    }
}
