// Changes of results as an asynchronous sequence: rows by id, and what changed.
import Foundation

/// The rows of a query at one version, and the changes since the previous element. Any thread.
///
/// An element holds its version until it is released, or until 256 newer elements of the store in this process hold
/// theirs.
public struct ResultsUpdate<Object: StoredObject>: Sendable {
    /// Changes since the previous element. nil in the first element.
    public let changes: ChangeSet?
    /// Version of the store at which the query has these rows.
    public let version: UInt64
    let slice: TreeSlice
    let origin: RowsOrigin<Object>
    let lent: LentSnapshot?

    /// Rows, frozen at `version`. They hold the version themselves. O(1).
    /// - Throws: `versionReleased` once 256 newer elements have held their versions at one time.
    public var rows: FrozenResults<Object> {
        get throws(StoreError) {
            guard let snapshot = lent?.snapshot else { throw .versionReleased(version: version) }
            let pin = FrozenPin(origin.store, snapshot, file: origin.file, line: origin.line)
            return FrozenResults(
                pin: pin, table: origin.table, elements: nil, rows: slice, remake: origin.remake)
        }
    }

    /// Number of rows. O(1).
    public var count: Int { slice.count }

    /// Returns the id of the row at `index`. `connection.object(_:withID:)` finds its object. O(log n).
    public func objectID(at index: Int) -> ObjectID { ObjectID(rawValue: slice.id(at: index)) }

    /// Ids of all rows, in order. O(n).
    public var objectIDs: [ObjectID] { slice.ids.map { ObjectID(rawValue: $0) } }
}

/// The collection that elements of a sequence are of.
struct RowsOrigin<Object: StoredObject>: Sendable {
    let store: Store
    let table: Table
    let remake: @Sendable (Connection) -> Results<Object>
    /// Place at which the sequence was made.
    let file: String
    let line: Int
}

/// The newest rows of a query, and the sequences made of them.
struct NewestRows<Origin: Sendable>: Sendable {
    typealias Channel = ChangeChannel<NewestRows>

    let tree: RankedTree
    let version: UInt64
    let window: TreeWindow
    let origin: Origin
    let lent: LentSnapshot?
    /// Changes from the rows taken last to these, if already known.
    private var known: ChangeSet?

    /// Returns the changes since `reported`. nil if that is nil, for the first element.
    func changes(since reported: RankedTree?) -> ChangeSet? {
        reported.map { known ?? .between($0, tree, in: window) }
    }

    static func channel() -> Channel {
        Channel { _, new in
            var newest = new
            newest.known = nil
            return newest
        }
    }

    /// Sends the rows of a query to a channel until it is finished. On the connection's scheduler.
    /// - Parameter lends: whether each element holds its version.
    static func send(
        _ query: ConnectionQuery, of connection: Connection, _ origin: Origin, lends: Bool, to channel: Channel,
        _ place: String
    ) throws {
        let made = Channel.Source(channel)
        let window = query.plan.window
        func offer(_ connection: Connection, _ tree: RankedTree, _ known: ChangeSet?) {
            let snapshot = lends ? connection.delivered : nil
            made.channel.offer(
                NewestRows(
                    tree: tree, version: connection.version, window: window, origin: origin,
                    lent: snapshot.map { $0.storage.lentSnapshots.lend($0) }, known: known))
        }
        let token = try connection.observe(query, madeAt: place) { [unowned connection, unowned query] change in
            switch change {
            case .initial: if let tree = query.delivered { offer(connection, tree, nil) }
            case .update(let known, to: let tree): offer(connection, tree, known.changes)
            case .failed(let error): made.channel.finish(error)
            }
        }
        channel.keep(token, of: connection.core)
    }

    /// Returns the sequence of what a channel is sent. `makeElement` is given the tree taken last, or nil at first, and
    /// the newest rows.
    static func sequence<Element: Sendable>(
        _ channel: Channel, _ makeElement: @escaping (RankedTree?, NewestRows) -> Element?
    ) -> LiveChanges<Element> {
        var reported: RankedTree?
        let source = PendingSource<Element, NewestRows>(channel) { newest in
            defer { reported = newest.tree }
            return makeElement(reported, newest)
        }
        return LiveChanges(source: source)
    }
}

extension ResultsUpdate {
    fileprivate typealias Newest = NewestRows<RowsOrigin<Object>>

    fileprivate static func sequence(_ channel: Newest.Channel) -> LiveChanges<Self> {
        Newest.sequence(channel) { reported, newest in
            let changes = newest.changes(since: reported)
            if let changes, changes.isEmpty { return nil }
            return ResultsUpdate(
                changes: changes, version: newest.version, slice: newest.tree.slice(newest.window),
                origin: newest.origin, lent: newest.lent)
        }
    }
}

extension Results {
    /// Returns the changes of this collection as a sequence for any task. The first element has the rows, the others
    /// the changes too. One element may cover several commits, in particular in a slow loop. On this connection's
    /// scheduler.
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all.
    /// - Throws: `noScheduler` on a connection without a delivery context, `closed`, `openedBeforeFork`; `otherStore`,
    ///   `otherClass`, `filterTooDeep` for an invalid filter.
    public func changes(
        keyPaths: [PartialKeyPath<Object>]? = nil, file: String = #fileID, line: Int = #line
    ) throws -> LiveChanges<ResultsUpdate<Object>> {
        let channel = ResultsUpdate<Object>.Newest.channel()
        try send(to: channel, keyPaths, file, line)
        return ResultsUpdate.sequence(channel)
    }

    fileprivate func send(
        to channel: ResultsUpdate<Object>.Newest.Channel, _ keyPaths: [PartialKeyPath<Object>]?, _ file: String,
        _ line: Int
    ) throws {
        checkNotOfList("changes(keyPaths:)")
        let origin = RowsOrigin(store: connection.store, table: table, remake: remake, file: file, line: line)
        try NewestRows.send(
            keyPaths.map(observed(by:)) ?? query, of: connection, origin, lends: true, to: channel, "\(file):\(line)")
    }
}

extension Store {
    /// Returns the changes of a query as a sequence, on a connection made for it. For tasks without a connection. Any
    /// thread; does not wait.
    ///
    ///     for try await update in store.changes(of: Note.self, { $0.where(\.done == false) }) { … }
    ///
    /// The loop throws an error such as `unknownModel`, `tooManySnapshots` or `closed` if the query cannot be observed.
    /// - Parameter query: filters and sorts the objects of the class. Called at most once, on the connection's own
    ///   queue.
    public func changes<Object: StoredObject>(
        of type: Object.Type, file: String = #fileID, line: Int = #line,
        _ query: @escaping @Sendable (Results<Object>) -> Results<Object> = { $0 }
    ) -> LiveChanges<ResultsUpdate<Object>> {
        let channel = ResultsUpdate<Object>.Newest.channel()
        let queue = DispatchQueue(label: "stillingwell changes of \(type)")
        queue.async { [self] in
            do {
                try query(try connect(on: .queue(queue)).objects(type)).send(to: channel, nil, file, line)
            } catch {
                let other = StoreError.storage(operation: "observe", code: 0, reason: "\(error)")
                channel.finish(error as? StoreError ?? other)
            }
        }
        return ResultsUpdate.sequence(channel)
    }
}

extension Connection {
    /// Returns the object with this id, or nil if there is none. O(log n).
    /// - Throws: `unknownModel`; `damaged` or `storage` if the row cannot be read.
    public func object<Object: StoredObject>(_ type: Object.Type, withID id: ObjectID) throws -> Object? {
        checkScheduler()
        let table = try core.storage.table(of: type)
        guard currentRow(table, id) != nil else {
            try checkReads()
            return nil
        }
        return makeObject(table, id) as Object
    }
}
