// Results in sections. They are one query whose tree is sorted by section key first, so that each section is a range of
// rows. Deliveries, own writes and coalescing work as for results.
import StillingWellBasis

/// The objects that a query finds, in sections. Live and ordered like `Results`, and on the same scheduler.
public final class SectionedResults<Key: StorableValue, Object: StoredObject>: RandomAccessCollection {
    // Named because the subscript by path makes it ambiguous.
    @_documentation(visibility: internal)
    public typealias Element = ResultsSection<Key, Object>

    /// Connection that these results belong to.
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

    /// Number of sections. None is empty.
    public var count: Int { places.count }
    @_documentation(visibility: internal)
    public var startIndex: Int { 0 }
    @_documentation(visibility: internal)
    public var endIndex: Int { count }

    /// The section at `position`, as shown now. O(log n).
    public subscript(position: Int) -> ResultsSection<Key, Object> {
        let places = places
        stopUnless(
            position >= 0 && position < places.count, "section \(position) is outside of \(places.count) sections")
        return section(position, places)
    }

    /// The object at `path`. O(log n).
    public subscript(path: RowPath) -> Object { self[path.section][path.row] }

    /// Iterates over the sections shown now.
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

    /// Keys of all sections, in order. O(sections · log sections).
    public var keys: [Key] {
        let places = places
        return (0..<places.count).map { key($0, places) }
    }

    /// Short titles of the sections, for an index beside a list: the first character of each key in upper case, empty
    /// for `nil`. O(sections · log sections).
    public var indexTitles: [String] {
        keys.map { key in key._columnValue.plain.map { "\($0)".prefix(1).uppercased() } ?? "" }
    }

    /// Number of objects in all sections. O(1) once the query is evaluated.
    public var objectCount: Int { places.rows.count }

    /// Calls `body` on this connection's scheduler: once with `.initial`, then with every change, until the token is
    /// invalidated. The sections are maintained in the background, where the section function runs too.
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all. Insertions, deletions and
    ///   moves are always reported. Other observers are not affected.
    /// - Throws: `noScheduler` on a connection without a delivery context, `closed`, `openedBeforeFork`; `otherStore`,
    ///   `otherClass`, `filterTooDeep` for an invalid filter.
    public func observe(
        keyPaths: [PartialKeyPath<Object>]? = nil, file: String = #fileID, line: Int = #line,
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

/// A section: its key, and its rows as shown when it was taken. On its connection's scheduler.
public struct ResultsSection<Key: StorableValue, Object: StoredObject>: RandomAccessCollection {
    /// Key that the rows of this section have in common.
    public let key: Key
    let connection: Connection
    let table: Table
    let rows: TreeSlice

    /// Number of rows in this section. O(1).
    public var count: Int { rows.count }
    @_documentation(visibility: internal)
    public var startIndex: Int { 0 }
    @_documentation(visibility: internal)
    public var endIndex: Int { count }

    /// The object at `position`. O(log n).
    public subscript(position: Int) -> Object {
        connection.checkScheduler()
        stopUnless(position >= 0 && position < count, "row \(position) is outside of a section of \(count) rows")
        return connection.makeObject(table, ObjectID(rawValue: rows.id(at: position)))
    }

    /// Ids of the section's objects, in order. O(n); reads no rows.
    public var objectIDs: [ObjectID] { rows.ids.map { ObjectID(rawValue: $0) } }
}

extension Results {
    /// Returns these objects in sections, one per value of a property, ordered by it. Within a section this order is
    /// kept.
    public func sectioned<Key: StorableValue>(
        by keyPath: KeyPath<Object, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Object> {
        let column = table.layout.column(keyPath)
        return sectioned(SectionTerm(term: SortTerm(column: column, ascending: ascending)))
    }

    /// Returns these objects in sections, one per value that `function` returns for a property, ordered by that value.
    /// Within a section this order is kept.
    ///
    /// The function runs in the background for each changed row. For rows that this connection writes or evaluates it
    /// runs on the connection's scheduler. It must always return the same key for the same value.
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
