// The live results of a query. On a connection with a scheduler they change by deliveries and the connection's own
// writes.
import StillingWellBasis

/// The settings of results, in columns of their objects' table.
struct Refinement: Sendable {
    var filter = FilterExpression.all
    var sort: [SortTerm] = []
    var distinct: [Int] = []
    var limit: Int?
    /// List whose objects these are. nil for all objects of the table.
    var list: ListSource?
    var fault: StoreError?
}

/// A live, ordered collection of objects. Belongs to its connection's scheduler.
///
/// The first read evaluates the query synchronously. Observing evaluates it in the background.
public final class Results<Object: StoredObject>: RandomAccessCollection {
    /// Connection that these results belong to.
    public let connection: Connection
    let table: Table
    let asked: Refinement
    /// The query, made at first use. So a chain of refinements makes only the last one.
    var query: ConnectionQuery {
        if let known { return known }
        let query = connection.query(
            asked.list?.plan(asked, table) ?? plan(section: nil), asked.list?.elements ?? table)
        known = query
        return query
    }
    /// The query, once it was made or found.
    var known: ConnectionQuery?
    /// Count found without a tree, and the connection's `epoch` then. Valid while that number is unchanged.
    var counted: (count: Int, epoch: Int)?
    var firstFound: FirstFound?

    init(_ connection: Connection, _ table: Table, _ asked: Refinement) {
        self.connection = connection
        self.table = table
        self.asked = asked
    }

    func plan(section: SectionTerm?) -> QueryPlan {
        QueryPlan(
            table: table, filter: asked.filter, sort: asked.sort, distinct: asked.distinct, limit: asked.limit,
            section: section, fault: asked.fault)
    }

    var remake: @Sendable (Connection) -> Results { { [table, asked] in Results($0, table, asked) } }

    // MARK: Refining

    /// Returns the objects that also pass `condition`.
    ///
    /// A condition that names an object of another store or class, or reads over too many links, makes unusable
    /// results: observing and freezing them throws. A `store.read` block or a write that reads them fails. Elsewhere
    /// the program stops with a message.
    public func `where`(_ condition: Filter<Object>) -> Results {
        refined { asked in
            do throws(StoreError) {
                asked.filter = asked.filter.and(try table.layout.stored(condition.expression, on: connection))
            } catch {
                asked.fault = asked.fault ?? error
            }
        }
    }

    /// Returns the objects that also pass a condition on their properties. Otherwise same as `where(_:)` with a filter.
    ///
    ///     notes.where { $0.title.contains("tide") && $0.score > 3 && !$0.done }
    public func `where`(_ condition: (QueriedProperties<Object>) -> Filter<Object>) -> Results {
        `where`(condition(QueriedProperties()))
    }

    /// Returns the objects whose Boolean property is true. `where(!\.done)` returns the others.
    public func `where`(_ property: KeyPath<Object, Bool>) -> Results { `where`(Filter(property, .equal, true)) }

    /// Returns the same objects in this order. Ties keep the order of earlier `sorted` calls, then that of creation.
    ///
    /// A path over links, such as `\.owner?.name`, sorts by a property of linked objects. A change of that property
    /// costs O(log n) per object that links there. A nil link counts as nil; nil comes first in ascending order. Lists
    /// and computed properties stop the program with a message. On the connection's scheduler.
    public func sorted<Value: StorableValue>(by keyPath: KeyPath<Object, Value>, ascending: Bool = true) -> Results {
        let term = table.layout.stored(SortTerm(keyPath, ascending: ascending))
        return refined { asked in asked.sort = [term] + asked.sort.filter { !$0.hasColumn(of: term) } }
    }

    /// Returns the same objects in the order of several keys, the most significant first. Replaces the order of earlier
    /// `sorted` calls. Ties keep the order of creation, or of the list. On the connection's scheduler.
    public func sorted(by keys: [SortKey<Object>]) -> Results {
        var terms: [SortTerm] = []
        for key in keys {
            let term = table.layout.stored(key.term)
            if !terms.contains(where: { $0.hasColumn(of: term) }) { terms.append(term) }
        }
        return refined { $0.sort = terms }
    }

    /// Returns only the first object, in the results' order, of those equal in all of these properties. Filters apply
    /// first, then the order, then this, whatever the order of the calls. The last call counts.
    ///
    /// Maintained incrementally: a change costs O(log n) and may show another object of its group.
    public func distinct(by keyPaths: [PartialKeyPath<Object>]) -> Results {
        checkNotOfList("distinct(by:)")
        let columns = Set(keyPaths.map { table.layout.column($0) })
        stopUnless(
            columns.allSatisfy { table.schema.columns[$0].type != .list },
            "distinct(by:) compares stored values, and a list is none; store what makes objects equal as a property")
        return refined { $0.distinct = Array(columns) }
    }

    /// Returns the first `count` objects. Applies after everything else, whatever the order of the calls. The smallest
    /// count wins.
    ///
    /// A change may move objects across the limit. They are reported as inserted or deleted.
    public func limited(to count: Int) -> Results {
        stopUnless(count >= 0, "results cannot be limited to \(count) objects")
        return refined { $0.limit = Swift.min(count, $0.limit ?? count) }
    }

    func refined(_ refine: (inout Refinement) -> Void) -> Results {
        var asked = asked
        refine(&asked)
        return Results(connection, table, asked)
    }

    // MARK: Reading

    var rows: TreeSlice { connection.shownRows(query) }

    // The standard library documents these members. Its versions of the last four ask for the end, and so for the
    // count. Members of a protocol of the store would not be specialised in other modules.
    @_documentation(visibility: internal)
    public var startIndex: Int { 0 }
    @_documentation(visibility: internal)
    public var endIndex: Int { count }
    @_documentation(visibility: internal)
    public func index(after index: Int) -> Int { index + 1 }
    @_documentation(visibility: internal)
    public func index(before index: Int) -> Int { index - 1 }
    @_documentation(visibility: internal)
    public func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
    @_documentation(visibility: internal)
    public func distance(from start: Int, to end: Int) -> Int { end - start }
    /// Number of objects. O(1), except for the first access after a delivery or a write. That is O(log n) for an
    /// observed query, for all objects of a class, and for one value of the primary key or an index; for a range of
    /// values, also O(distinct values in it). Otherwise objects are tested: those that an index finds, or all. While a
    /// live connection writes, and until its commits are delivered, an unobserved query is evaluated as a whole.
    public var count: Int {
        // Most common path in callbacks: the rows of an observed query are in its tree.
        if let known, known.isDelivered { return connection.shownRows(known).count }
        return countOfAny
    }

    @inline(never)
    private var countOfAny: Int { (hasOwnTree ? nil : countedRows) ?? rows.count }

    /// The first object, or nil if there is none. O(log n) for an observed query. Otherwise rows are read in the order
    /// of an index, of the primary key or of creation until one passes. For any other order each object is tested once.
    /// While a live connection shows own writes, as `count`.
    public var first: Object? {
        if let found = firstRows(1) {
            return found.first.map { connection.makeObject(table, $0, connection.foundEpoch) }
        }
        let rows = rows
        return rows.count == 0 ? nil : object(rows.id(at: 0))
    }

    /// The object at `position`. O(log n). For unobserved results and the first 1,024 positions, complexity as `first`.
    public subscript(position: Int) -> Object {
        if let known, let id = connection.shownID(known, position) { return object(id) }
        if let row = firstRow(at: position) { return connection.makeObject(table, row, connection.foundEpoch) }
        let rows = rows
        checkIndex(position, of: rows.count, "objects of these results of \(table.schema.name)")
        return object(rows.id(at: position))
    }

    /// Iterates over the rows shown now. Changes made by the loop body do not make it skip or repeat one.
    public func makeIterator() -> _ResultsIterator<Object> {
        if let scan = scan() { return _ResultsIterator(connection, table, scan) }
        if let found = shownRows { return _ResultsIterator(connection, table, found) }
        return _ResultsIterator(connection, table, rows.ids, of: asked.list)
    }

    /// Used by `Array(results)`. May have fewer elements than `count` if rows cannot be read.
    public func _copyToContiguousArray() -> ContiguousArray<Object> { ContiguousArray(gathering: makeIterator()) }

    /// Returns `transform` of each object shown now, in order.
    /// - Throws: what `transform` throws.
    public func map<Value, Failure: Error>(
        _ transform: (Object) throws(Failure) -> Value
    ) throws(Failure) -> [Value] {
        var values: [Value] = []
        var objects = makeIterator()
        while let object = objects.next() { values.append(try transform(object)) }
        return values
    }

    private func object(_ row: UInt64) -> Object { connection.makeObject(table, objectID(ofRow: row)) }

    private func objectID(ofRow row: UInt64) -> ObjectID {
        guard let list = asked.list else { return ObjectID(rawValue: row) }
        return list.objectID(ofElement: row, connection)
    }

    /// Ids of the objects shown, in order.
    public var objectIDs: [ObjectID] { shownRows?.map(\.id) ?? rows.ids.map { objectID(ofRow: $0) } }

    // MARK: Observing

    /// Calls `body` on this connection's scheduler: once with `.initial`, then with every change, until the token is
    /// invalidated. One change may cover several commits.
    ///
    /// The query is evaluated and maintained in the background. Callbacks never run inside a write block of this
    /// connection, and the store holds no lock while they run.
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all. Insertions, deletions and
    ///   moves are always reported. A path over links, such as `\.owner?.name`, includes changes of linked objects.
    ///   Other observers are not affected.
    /// - Throws: `noScheduler` on a connection without a delivery context, `closed`, `openedBeforeFork`; `otherStore`,
    ///   `otherClass`, `filterTooDeep` for an invalid filter.
    public func observe(
        keyPaths: [PartialKeyPath<Object>]? = nil, file: String = #fileID, line: Int = #line,
        _ body: @escaping (ResultsChange<Object>) -> Void
    ) throws -> NotificationToken {
        try connection.observe(keyPaths.map(observed(by:)) ?? query, madeAt: "\(file):\(line)") { [self] change in
            switch change {
            case .initial: body(.initial(self))
            case .update(let known, _): body(.update(self, known.changes))
            case .failed(let error): body(.error(error))
            }
        }
    }

    func observed(by keyPaths: [PartialKeyPath<Object>]) -> ConnectionQuery {
        let paths = keyPaths.map { table.layout.stored(ColumnPath($0)) }
        let observed = Observed(asked.list == nil ? paths : paths.map { ColumnPath([ListTable.value] + $0.columns) })
        return connection.query(query.plan.observing(observed), query.table, showing: query)
    }
}

extension Connection {
    /// Returns the id of the row at an index of a query's shown rows. nil if these are not cached, or the index is out
    /// of range.
    func shownID(_ query: ConnectionQuery, _ index: Int) -> UInt64? {
        checkPlace()
        return query.shownID(at: index, shownState)
    }

    func shownRows(_ query: ConnectionQuery) -> TreeSlice {
        checkPlace()
        do {
            return try rows(query)
        } catch {
            failReading(error)
            return RankedTree().slice(.all)
        }
    }
}

/// A key of an order.
public struct SortKey<Object: StoredObject>: Sendable {
    let term: SortTerm

    /// Sorts by a property, or by one over links, such as `\.owner?.name`. Nulls come first in ascending order. Any
    /// thread.
    public init<Value: StorableValue>(_ keyPath: KeyPath<Object, Value>, ascending: Bool = true) {
        term = SortTerm(keyPath, ascending: ascending)
    }
}

extension SortTerm {
    /// Makes the order of a key path. Its columns are ordinals of the classes' properties, not yet stored columns.
    init<Object: StoredObject, Value: StorableValue>(_ keyPath: KeyPath<Object, Value>, ascending: Bool) {
        let path = ColumnPath(keyPath)
        let property = path.property(of: keyPath, Value.self)
        stopUnless(
            property.type != .list,
            "\(keyPath) is what the list '\(property.name)' comes to, and no order: store it as a property to sort by it"
        )
        let over = LinkedColumn(links: Array(path.links), type: property.type, isOptional: property.isOptional)
        self.init(column: path.column, ascending: ascending, over: path.links.isEmpty ? nil : over)
    }
}

extension Connection {
    /// Returns all objects of a class, live. O(1): nothing is read until used.
    /// - Throws: `unknownModel`.
    public func objects<Object: StoredObject>(_ type: Object.Type) throws -> Results<Object> {
        checkScheduler()
        return Results(self, try table(of: type), Refinement())
    }
}
