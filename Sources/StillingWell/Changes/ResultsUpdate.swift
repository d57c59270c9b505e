// Changes of results as an asynchronous sequence: rows by id, and what changed.
import Foundation

/// The rows of a query at one version, and the changes since the previous element. Any thread.
public struct ResultsUpdate<Object: StoredObject>: Sendable {
    /// Changes since the previous element. nil in the first element.
    public let changes: ChangeSet?
    /// Version of the store at which the query has these rows.
    public let version: UInt64
    let rows: TreeSlice

    /// Number of rows. O(1).
    public var count: Int { rows.count }

    /// Returns the id of the row at `index`. `connection.object(_:withID:)` finds its object. O(log n).
    public func objectID(at index: Int) -> ObjectID { ObjectID(rawValue: rows.id(at: index)) }

    /// Ids of all rows, in order. O(n).
    public var objectIDs: [ObjectID] { rows.ids.map { ObjectID(rawValue: $0) } }
}

struct NewestRows: Sendable {
    var tree: RankedTree
    var version: UInt64
    /// Changes from the rows taken last to these, if already known.
    private var known: ChangeSet?

    /// Returns the changes since `reported`. nil if that is nil, for the first element.
    func changes(since reported: RankedTree?, _ plan: QueryPlan) -> ChangeSet? {
        reported.map { known ?? .between($0, tree, in: plan.window) }
    }

    /// Returns a query's changes as a sequence. `makeElement` is given the root taken last and the newest rows.
    static func sequence<Element: Sendable>(
        _ query: ConnectionQuery, _ connection: Connection, _ place: String,
        _ makeElement: @escaping (RankedTree?, NewestRows) -> Element?
    ) throws -> LiveChanges<Element> {
        let channel = ChangeChannel<NewestRows> { _, new in NewestRows(tree: new.tree, version: new.version) }
        let made = ChangeChannel.Source(channel)
        let token = try connection.observe(query, madeAt: place) { [unowned connection, unowned query] change in
            switch change {
            case .initial:
                if let tree = query.delivered {
                    made.channel.offer(NewestRows(tree: tree, version: connection.version))
                }
            case .update(let known, to: let tree):
                made.channel.offer(NewestRows(tree: tree, version: connection.version, known: known.changes))
            case .failed(let error): made.channel.finish(error)
            }
        }
        var reported: RankedTree?
        let source = PendingSource<Element, NewestRows>(channel) { newest in
            defer { reported = newest.tree }
            return makeElement(reported, newest)
        }
        return source.keep(token, of: connection.core)
    }
}

extension Results {
    /// Returns the changes of this collection as a sequence for any task. The first element has the rows, the others
    /// the changes. One element may cover several commits, in particular in a slow loop. On this connection's
    /// scheduler.
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`.
    public func changes(
        keyPaths: [PartialKeyPath<Object>]? = nil, file: String = #fileID, line: Int = #line
    ) throws -> LiveChanges<ResultsUpdate<Object>> {
        checkNotOfList("changes(keyPaths:)")
        let query = keyPaths.map(observed(by:)) ?? query
        let plan = query.plan
        return try NewestRows.sequence(query, connection, "\(file):\(line)") { reported, newest in
            let changes = newest.changes(since: reported, plan)
            if let changes, changes.isEmpty { return nil }
            return ResultsUpdate(changes: changes, version: newest.version, rows: newest.tree.slice(plan.window))
        }
    }
}

extension Store {
    /// Returns the changes of a query as a sequence, on a connection made for it. For tasks without a connection. Any
    /// thread.
    ///
    ///     for try await update in try store.changes(of: Note.self, { $0.where(\.done == false) }) { … }
    /// - Parameter query: filters and sorts the objects of the class.
    /// - Throws: `unknownModel`, `tooManySnapshots`, `closed`.
    public func changes<Object: StoredObject>(
        of type: Object.Type, file: String = #fileID, line: Int = #line,
        _ query: (Results<Object>) -> Results<Object> = { $0 }
    ) throws -> LiveChanges<ResultsUpdate<Object>> {
        let queue = DispatchQueue(label: "stillingwell changes of \(type)")
        return try queue.sync {
            try query(try connect(on: .queue(queue)).objects(type)).changes(file: file, line: line)
        }
    }
}

extension Connection {
    /// Returns the object with this id, or nil if there is none. O(log n).
    /// - Throws: `unknownModel`.
    public func object<Object: StoredObject>(_ type: Object.Type, withID id: ObjectID) throws -> Object? {
        checkScheduler()
        let table = try core.storage.table(of: type)
        return currentRow(table, id) == nil ? nil : makeObject(table, id) as Object
    }
}
