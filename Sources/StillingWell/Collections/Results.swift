// The objects that a query finds, live: on a connection with a scheduler they change by deliveries and by the
// connection's own writes, and by nothing else, so an index that was shown names the same row inside a write.
import StillingWellBasis

/// What results ask for, in columns of their objects' table.
struct Refinement: Sendable {
    var filter = FilterExpression.all
    var sort: [SortTerm] = []
    var distinct: [Int] = []
    var limit: Int?
    /// The list whose objects they are; nil for all of the table's.
    var list: ListSource?
    /// What is wrong with the query; thrown where it is used.
    var fault: StoreError?
}

/// A live, ordered collection of objects. Belongs to its connection's scheduler.
///
/// Reading it for the first time evaluates the query there and then; observing it evaluates in the background.
public final class Results<Object: StoredObject>: RandomAccessCollection {
    /// The connection it belongs to.
    public let connection: Connection
    let table: Table
    let asked: Refinement
    /// Made when it is used first: of a chain of refinements, only the last one is.
    var query: ConnectionQuery {
        if let known { return known }
        let query = connection.query(
            asked.list?.plan(asked, table) ?? plan(section: nil), asked.list?.elements ?? table)
        known = query
        return query
    }
    /// The query, once it is made or has been found to be.
    var known: ConnectionQuery?
    /// What was counted without a tree, and when.
    var counted: (count: Int, epoch: Int)?
    /// The first rows, found without a tree.
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

    /// Those objects that also pass `condition`. O(1), but for conditions that name objects.
    ///
    /// A condition that names an object of another store, or looks over too many links, makes results that cannot be used:
    /// observing and freezing them throws, a `store.read` block or a write that reads them fails, and elsewhere the program
    /// stops with a message.
    public func `where`(_ condition: Filter<Object>) -> Results {
        refined { asked in
            do throws(StoreError) {
                asked.filter = asked.filter.and(try table.layout.stored(condition.expression, on: connection))
            } catch {
                asked.fault = asked.fault ?? error
            }
        }
    }

    /// The same objects in this order; ties keep the order of earlier `sorted` calls, then that of creation.
    ///
    /// A path over links, as `\.owner?.name`, orders by a property of the objects they lead to: the order follows when that
    /// property changes, which costs O(log n) for each object that leads there. A link that leads nowhere is nil, and
    /// nil comes first where the order ascends. What a list or a computed property comes to is no order, and stops the
    /// program with a message that says so. On the connection's scheduler.
    public func sorted<Value: StorableValue>(by keyPath: KeyPath<Object, Value>, ascending: Bool = true) -> Results {
        let term = table.layout.stored(SortTerm(keyPath, ascending: ascending))
        return refined { asked in asked.sort = [term] + asked.sort.filter { !$0.hasColumn(of: term) } }
    }

    /// The same objects in the order of several keys, the first being the most significant. On the connection's scheduler.
    public func sorted(by keys: [SortKey<Object>]) -> Results {
        var terms: [SortTerm] = []
        for key in keys {
            let term = table.layout.stored(key.term)
            if !terms.contains(where: { $0.hasColumn(of: term) }) { terms.append(term) }
        }
        return refined { $0.sort = terms }
    }

    /// Of the objects that are equal in all of these properties, only the first in the results' order. Whatever is
    /// refined afterwards, the filter applies first, then the order, then this; of several calls the last one counts.
    ///
    /// Kept incrementally: a change costs O(log n), and may show another object of its group.
    public func distinct(by keyPaths: [PartialKeyPath<Object>]) -> Results {
        checkNotOfList("distinct(by:)")
        return refined { $0.distinct = Array(Set(keyPaths.map { table.layout.column($0) })) }
    }

    /// The first `count` objects. Applies last, whatever is refined afterwards; of several calls the smallest counts.
    ///
    /// A change may move objects over the end, which are then told as inserted or deleted.
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

    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    // The standard library's ask for the end, and so for the count.
    public func index(after index: Int) -> Int { index + 1 }
    public func index(before index: Int) -> Int { index - 1 }
    public func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
    public func distance(from start: Int, to end: Int) -> Int { end - start }
    /// How many objects there are. O(1), but for the first access after a delivery or a write: O(log n) for a query that
    /// is observed, for all objects, and for one value or a range of the primary key or of an indexed property (and the
    /// values in the range); else each object is asked.
    public var count: Int {
        // As in nearly every callback: the rows of an observed query stand in its tree.
        if let known, known.isDelivered { return connection.shownRows(known).count }
        return countOfAny
    }

    @inline(never)
    private var countOfAny: Int { (hasOwnTree ? nil : countedRows) ?? rows.count }

    /// The first object; nil where there is none. O(log n) for an observed query. Else no more is read than leads to it in the order
    /// of an index, of the primary key or of creation, and for other orders each object is asked once.
    public var first: Object? {
        if let found = firstRows(1) {
            return found.first.map { connection.makeObject(table, $0, connection.foundEpoch) }
        }
        let rows = rows
        return rows.count == 0 ? nil : object(rows.id(at: 0))
    }

    /// O(log n). Of results that nobody observes, and for the first thousand, as `first`.
    public subscript(position: Int) -> Object {
        if let known, let id = connection.shownID(known, position) { return object(id) }
        if let row = firstRow(at: position) { return connection.makeObject(table, row, connection.foundEpoch) }
        let rows = rows
        checkIndex(position, of: rows.count, "objects of these results of \(table.schema.name)")
        return object(rows.id(at: position))
    }

    /// Goes over the rows shown now: what a loop does to them does not make it skip or repeat one.
    public func makeIterator() -> ResultsIterator<Object> {
        if let scan = scan() { return ResultsIterator(connection, table, scan) }
        if let found = shownRows { return ResultsIterator(connection, table, found) }
        return ResultsIterator(connection, table, rows.ids, of: asked.list)
    }

    /// What `Array(results)` asks for: what a loop comes to, which may be less than `count` where rows are lost.
    public func _copyToContiguousArray() -> ContiguousArray<Object> { ContiguousArray(gathering: makeIterator()) }

    /// What `transform` makes of each object shown now, in order. As a loop over them: O(n), with no look-up by index, and
    /// without evaluating an order that nobody asked for.
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

    /// The ids of the objects shown, in order. O(n); reads no row, except for the objects of a list.
    public var objectIDs: [ObjectID] { shownRows?.map(\.id) ?? rows.ids.map { objectID(ofRow: $0) } }

    // MARK: Observing

    /// Calls `body` on this connection's scheduler: once with `.initial`, then with every change, until the token is
    /// invalidated. Several commits may come as one change.
    ///
    /// Nothing is evaluated here: the query runs in the background, and is kept true there. Callbacks never run inside
    /// a write block, and no lock of the store's is held while they run.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`; `otherStore`, `otherClass`,
    ///   `filterTooDeep` for a filter that cannot be asked here.
    public func observe(
        file: String = #fileID, line: Int = #line, _ body: @escaping (ResultsChange<Object>) -> Void
    ) throws -> NotificationToken { try observe(query, "\(file):\(line)", body) }

    /// Observes as `observe` does, but only changes of some properties count as modifications; rows that come, go or move
    /// are told always. An empty list is shallow: no modifications at all. The filter is this observer's alone. A path over
    /// links, as `\.owner?.name`, counts changes of the objects it leads to.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`; `otherStore`, `otherClass`,
    ///   `filterTooDeep` for a filter that cannot be asked here.
    public func observe(
        keyPaths: [PartialKeyPath<Object>], file: String = #fileID, line: Int = #line,
        _ body: @escaping (ResultsChange<Object>) -> Void
    ) throws -> NotificationToken { try observe(observed(by: keyPaths), "\(file):\(line)", body) }

    func observed(by keyPaths: [PartialKeyPath<Object>]) -> ConnectionQuery {
        let paths = keyPaths.map { table.layout.stored(ColumnPath($0)) }
        let observed = Observed(asked.list == nil ? paths : paths.map { ColumnPath([ListTable.value] + $0.columns) })
        return connection.query(query.plan.observing(observed), query.table, showing: query)
    }

    private func observe(
        _ query: ConnectionQuery, _ place: String, _ body: @escaping (ResultsChange<Object>) -> Void
    ) throws -> NotificationToken {
        try connection.observe(query, madeAt: place) { [self] change in
            switch change {
            case .initial: body(.initial(self))
            case .update(let known, _): body(.update(self, known.changes))
            case .failed(let error): body(.error(error))
            }
        }
    }
}

extension Connection {
    /// The row at an index of those that a query shows; nil where they are not at hand, or there is none.
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

/// One key of an order.
public struct SortKey<Object: StoredObject>: Sendable {
    let term: SortTerm

    /// Orders by a property, or by one over links, as `\.owner?.name`; nulls come first where the order ascends. Any thread.
    public init<Value: StorableValue>(_ keyPath: KeyPath<Object, Value>, ascending: Bool = true) {
        term = SortTerm(keyPath, ascending: ascending)
    }
}

extension SortTerm {
    /// The order by what a key path names, in columns of the classes.
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

/// What an observer of results is told.
public enum ResultsChange<Object: StoredObject> {
    /// The query has been evaluated; the collection is as at the connection's `version`.
    case initial(Results<Object>)
    /// The collection changed since this observer was last called.
    case update(Results<Object>, ChangeSet)
    /// The query cannot be kept any more; no further call comes.
    case error(StoreError)
}

extension Connection {
    /// All objects of a class, live. O(1): nothing is read before it is used.
    /// - Throws: `unknownModel`.
    public func objects<Object: StoredObject>(_ type: Object.Type) throws -> Results<Object> {
        checkScheduler()
        return Results(self, try table(of: type), Refinement())
    }
}
