// Results as a sequence of values for any task: which rows there are, by identity, and what changed in them.
import Foundation

/// The rows of a query at one version, and how they differ from those of the element before. For any thread.
public struct ResultsUpdate<Object: StoredObject>: Sendable {
    /// From the last element to this one; nil in the first.
    public let changes: ChangeSet?
    /// The version of the store at which this is so.
    public let version: UInt64
    let rows: TreeSlice

    /// How many rows there are. O(1).
    public var count: Int { rows.count }

    /// The row at an index, whose object `connection.object(_:withID:)` finds. O(log n).
    public func objectID(at index: Int) -> ObjectID { ObjectID(rawValue: rows.id(at: index)) }

    /// All rows, in order. O(n).
    public var objectIDs: [ObjectID] { rows.ids.map { ObjectID(rawValue: $0) } }
}

struct NewestRows: Sendable {
    var tree: RankedTree
    var version: UInt64
    /// From the rows taken last to these, where that is known already.
    private var known: ChangeSet?

    /// What changed since the rows taken last; nil where these are the first.
    func changes(since reported: RankedTree?, _ plan: QueryPlan) -> ChangeSet? {
        reported.map { known ?? .between($0, tree, in: plan.window) }
    }

    /// A query's changes as a sequence of what `makeElement` makes of them, given the rows taken last.
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
    /// The changes of this collection as a sequence, for any task: first the rows as they are, then what changed. Several
    /// commits may come as one element; for a slow loop they do. On this connection's scheduler.
    /// - Parameter keyPaths: the properties whose changes count as modifications; nil means all.
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
    /// The changes of a query as a sequence, on a connection of its own: for tasks that have none. Any thread.
    ///
    ///     for try await update in try store.changes(of: Note.self, { $0.where(\.done == false) }) { … }
    /// - Parameter query: filters and sorts all objects of the class.
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
    /// The object with this identity; nil when there is none. O(log n).
    /// - Throws: `unknownModel`.
    public func object<Object: StoredObject>(_ type: Object.Type, withID id: ObjectID) throws -> Object? {
        checkScheduler()
        let table = try core.storage.table(of: type)
        return currentRow(table, id) == nil ? nil : makeObject(table, id) as Object
    }
}
