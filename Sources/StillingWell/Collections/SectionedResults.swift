// Results in sections. They are one live query whose tree is in order of section key first, so that a section is a run of
// rows: everything that holds for results (deliveries, own writes, coalescing) holds for sections without further ado.
import StillingWellBasis

/// The objects that a query finds, in sections: live and ordered like `Results`, and belonging to the same scheduler.
public final class SectionedResults<Key: StorableValue, Object: StoredObject>: RandomAccessCollection {
    /// The connection it belongs to.
    public let connection: Connection
    let table: Table
    private let layout: SortKeyLayout
    let query: ConnectionQuery

    init(_ connection: Connection, _ table: Table, _ plan: QueryPlan, _ section: SectionTerm) {
        self.connection = connection
        self.table = table
        layout = section.layout(table.schema)
        query = connection.query(plan, table)
    }

    private var places: SectionPlaces { SectionPlaces(connection.shownRows(query).tree) }

    public var startIndex: Int { 0 }
    /// How many sections there are; none is empty.
    public var endIndex: Int { places.count }

    /// The section at an index, as it is shown now. O(log n).
    public subscript(position: Int) -> ResultsSection<Key, Object> {
        let places = places
        stopUnless(
            position >= 0 && position < places.count, "section \(position) is outside of \(places.count) sections")
        return section(position, places)
    }

    /// The object at a path. O(log n).
    public subscript(path: RowPath) -> Object { self[path.section][path.row] }

    /// Goes over the sections shown now.
    public func makeIterator() -> AnyIterator<ResultsSection<Key, Object>> {
        let places = places
        return AnyIterator((0..<places.count).lazy.map { [self] in section($0, places) }.makeIterator())
    }

    private func section(_ position: Int, _ places: SectionPlaces) -> ResultsSection<Key, Object> {
        ResultsSection(
            key: key(position, places), connection: connection, table: table,
            rows: TreeSlice(places.rows, places.ranks(of: position)))
    }

    func key(_ position: Int, _ places: SectionPlaces) -> Key {
        connection.value(
            layout.values(in: places.key(of: position).bytes[...])[0], of: "a section of \(table.schema.name)")
    }

    /// The keys of all sections, in order. O(sections · log sections).
    public var keys: [Key] {
        let places = places
        return (0..<places.count).map { key($0, places) }
    }

    /// A short title for each section, for an index at the side of a list: the first character of its key in upper case,
    /// empty for `nil`. O(sections · log sections).
    public var indexTitles: [String] {
        keys.map { key in key._columnValue.plain.map { "\($0)".prefix(1).uppercased() } ?? "" }
    }

    /// How many objects there are in all sections. O(1) once the query is evaluated.
    public var objectCount: Int { places.rows.count }

    /// Calls `body` on this connection's scheduler: once with `.initial`, then with every change, until the token is
    /// invalidated. The sections are kept in the background, and the section function runs there.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`.
    public func observe(
        file: String = #fileID, line: Int = #line, _ body: @escaping (SectionedResultsChange<Key, Object>) -> Void
    ) throws -> NotificationToken { try observe(keyPaths: nil, file, line, body) }

    /// Observes as `observe` does, but only changes of some properties count as modifications; rows that come, go or move
    /// are told always. An empty list is shallow: no modifications at all. The filter is this observer's alone.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`.
    public func observe(
        keyPaths: [PartialKeyPath<Object>], file: String = #fileID, line: Int = #line,
        _ body: @escaping (SectionedResultsChange<Key, Object>) -> Void
    ) throws -> NotificationToken { try observe(keyPaths: keyPaths, file, line, body) }

    private func observe(
        keyPaths: [PartialKeyPath<Object>]?, _ file: String, _ line: Int,
        _ body: @escaping (SectionedResultsChange<Key, Object>) -> Void
    ) throws -> NotificationToken {
        try asQuery.observe(keyPaths: keyPaths, file: file, line: line) { [self] change in
            switch change {
            case .initial: body(.initial(self))
            case .update(let changes, _, _): body(.update(self, changes))
            case .failed(let error): body(.error(error))
            }
        }
    }
}

/// One section: its key, and its rows as they were shown when it was taken. Use it where its connection is.
public struct ResultsSection<Key: StorableValue, Object: StoredObject>: RandomAccessCollection {
    /// What the rows of this section have in common.
    public let key: Key
    let connection: Connection
    let table: Table
    let rows: TreeSlice

    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }

    /// O(log n).
    public subscript(position: Int) -> Object {
        connection.checkScheduler()
        stopUnless(position >= 0 && position < count, "row \(position) is outside of a section of \(count) rows")
        return connection.makeObject(table, ObjectID(rawValue: rows.id(at: position)))
    }

    /// The ids of the section's objects, in order. O(n), reads no row.
    public var objectIDs: [ObjectID] { rows.ids.map { ObjectID(rawValue: $0) } }
}

/// What an observer of sections is told.
public enum SectionedResultsChange<Key: StorableValue, Object: StoredObject> {
    /// The query has been evaluated; the sections are as at the connection's `version`.
    case initial(SectionedResults<Key, Object>)
    /// The sections changed since this observer was last called.
    case update(SectionedResults<Key, Object>, SectionedChangeSet)
    /// The query cannot be kept any more; no further call comes.
    case error(StoreError)
}

extension Results {
    /// These objects in sections, one per value of a property, ordered by it; within a section they are in this order.
    public func sectioned<Key: StorableValue>(
        by keyPath: KeyPath<Object, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Object> {
        let column = table.layout.column(keyPath)
        return sectioned(SectionTerm(term: SortTerm(column: column, ascending: ascending)))
    }

    /// These objects in sections, one per value that `function` gives for a property, ordered by that value; within a
    /// section they are in this order.
    ///
    /// The function runs in the background, once for each row that changed (and for rows this connection writes itself,
    /// here). It must give the same key for the same value, always.
    public func sectioned<Value: StorableValue, Key: StorableValue>(
        by keyPath: KeyPath<Object, Value>, ascending: Bool = true, _ function: @escaping @Sendable (Value) -> Key
    ) -> SectionedResults<Key, Object> {
        let column = table.layout.column(keyPath)
        return sectioned(
            SectionTerm(
                term: SortTerm(column: column, ascending: ascending),
                function: SectionFunction(column: column, of: table.schema.place(column), function)))
    }

    func sectioned<Key>(_ section: SectionTerm) -> SectionedResults<Key, Object> {
        checkNotOfList("sectioned(by:)")
        stopUnless(
            asked.limit == nil,
            "limited results of \(table.schema.name) cannot be sectioned: take the sections without limited(to:)")
        return SectionedResults(connection, table, plan(section: section), section)
    }
}
