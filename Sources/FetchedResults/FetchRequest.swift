// What a controller shows: objects of a class, those that pass, in an order, in sections. A value that runs nothing.
import LiveStore

/// A query, and how its objects are divided into sections.
///
///     let request = FetchRequest(Note.self) { $0.where(\.stars > 2).sorted(by: \.title) }.sectioned(by: \.group)
public struct FetchRequest<Object: StoredObject>: Sendable {
    private let query: @Sendable (Results<Object>) -> Results<Object>
    private let section: @Sendable (Results<Object>) -> any FetchedRows<Object>

    /// Objects of a class in one section.
    /// - Parameter query: filters and sorts them. It is called on whichever thread fetches.
    public init(
        _ type: Object.Type = Object.self, _ query: @escaping @Sendable (Results<Object>) -> Results<Object> = { $0 }
    ) {
        self.query = query
        section = { KeyedRows($0.inOneSection(), isOne: true) }
    }

    private init(
        _ query: @escaping @Sendable (Results<Object>) -> Results<Object>,
        section: @escaping @Sendable (Results<Object>) -> any FetchedRows<Object>
    ) {
        self.query = query
        self.section = section
    }

    /// The same objects in sections, one per value of a property and ordered by it; within a section in the order of the
    /// query. The name of a section is the value's description.
    public func sectioned<Key: StorableValue>(
        by keyPath: KeyPath<Object, Key> & Sendable, ascending: Bool = true
    ) -> FetchRequest {
        FetchRequest(query, section: { KeyedRows($0.sectioned(by: keyPath, ascending: ascending), isOne: false) })
    }

    /// The same objects in sections, one per value that a function gives for a property.
    /// - Parameter function: gives the same key for the same value, always. It is called on several threads.
    public func sectioned<Value: StorableValue, Key: StorableValue>(
        by keyPath: KeyPath<Object, Value> & Sendable, ascending: Bool = true,
        _ function: @escaping @Sendable (Value) -> Key
    ) -> FetchRequest {
        FetchRequest(
            query, section: { KeyedRows($0.sectioned(by: keyPath, ascending: ascending, function), isOne: false) })
    }

    /// The rows on a connection. Evaluates nothing yet.
    func rows(on connection: Connection) throws -> any FetchedRows<Object> {
        section(query(try connection.objects(Object.self)))
    }
}
