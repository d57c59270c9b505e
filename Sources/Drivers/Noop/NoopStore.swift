// The no-op store. It keeps the scores of rows and the groups of loaded rows, so that a commit wakes only affected
// observers, as a real store would. It has no order, no contents and no change sets.
//
// The writer's `locked` hook is called under `writeLock`. The lock of `state` also guards the inboxes of the
// connections; no callback runs under it.
import StillingWellSync
import TidegaugeDriver

public final class NoopStore: RowlessStore, CallableOnSite {
    private let writeLock = TracedMutex("no-op store writers")
    private let state = Guarded("no-op store", NoopState())
    private let connections = SiteMap<NoopConnection>("no-op connections")

    public init() {}

    public func load(count: Int, item: (Int) -> Item) {
        let items = (0..<count).map(item)
        state.withLock { $0.load(items) }
    }

    /// Returns a writer that reuses its array of woken connections.
    public func makeWriter() -> any StoreWriter {
        var woken: [NoopConnection] = []
        return CommittingWriter { [self] in commit($0, &woken, locked: $1) }
    }

    public func fileBytes() -> Int { 0 }

    public func close() { for connection in connections.removeAll() { connection.end() } }

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) -> any DriverSubscription {
        let connection = connections.value(at: site) { NoopConnection(self, site) }
        let subscription = NoopSubscription(sink)
        state.withLock { connection.inbox.admit(subscription, query: $0.watch(query, connection)) }
        connection.wake()
        return subscription
    }

    /// Atomically returns the head version and moves the connection's pending deliveries into `pending`.
    func take(_ connection: NoopConnection, _ pending: inout NoopInbox.Pending) -> Int64 {
        state.withLock {
            connection.inbox.take(&pending)
            return $0.version
        }
    }

    /// - Parameter woken: array of the connections to wake, provided by the caller to reuse its memory.
    func commit(_ changes: UnsafeBufferPointer<Change>, _ woken: inout [NoopConnection], locked: () -> Void) -> Int64 {
        woken.removeAll(keepingCapacity: true)
        let committed = writeLock.withLock {
            locked()
            return state.withLock { state in
                state.version += 1
                for change in changes { state.apply(change, &woken) }
                return state.version
            }
        }
        for connection in woken { connection.wake() }
        return committed
    }

    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) {
        switch call {
        case .beginWrite: writeLock.withLock { granted() }
        case .refresh: granted()
        }
    }
}

/// Versions, scores, and the connections that observe each query.
private struct NoopState {
    var version: Int64 = 1
    /// Scores by key: those of loaded rows here, those of inserted rows in `inserted`.
    private var loaded: ContiguousArray<Int64> = []
    private var inserted: [Int64: Int64] = [:]
    private var groups: ContiguousArray<Int64> = []
    private var queries: [Query] = []
    private var numbers: [Query: Int] = [:]
    /// The connections that observe each query.
    private var watchers: [[NoopConnection]] = []
    /// Nil after a subscription to a new query; made again when it is needed.
    private var index: PredicateIndex? = PredicateIndex([])
    /// Score of a row that does not exist, less than every other score.
    private static let absent = Int64.min

    mutating func load(_ items: [Item]) {
        loaded = ContiguousArray(items.map(\.score))
        groups = ContiguousArray(items.map(\.group))
        version += 1
    }

    /// - Returns: the query's number.
    mutating func watch(_ query: Query, _ connection: NoopConnection) -> Int {
        let number = number(of: query)
        if !watchers[number].contains(where: { $0 === connection }) { watchers[number].append(connection) }
        return number
    }

    private mutating func number(of query: Query) -> Int {
        if let number = numbers[query] { return number }
        numbers[query] = queries.count
        queries.append(query)
        watchers.append([])
        index = nil
        return queries.count - 1
    }

    mutating func apply(_ change: Change, _ woken: inout [NoopConnection]) {
        let key = change.item.key
        let isLoaded = key < loaded.count
        let before = isLoaded ? loaded[Int(key)] : inserted[key] ?? Self.absent
        let after =
            switch change.operation {
            case .insert, .updateScore: change.item.score
            case .touch, .moveToFront: before
            case .delete: Self.absent
            }
        let group = isLoaded ? groups[Int(key)] : change.item.group
        if after != before {
            if isLoaded { loaded[Int(key)] = after } else { inserted[key] = after }
        }
        notify(key, group, before, &woken)
        if after != before { notify(key, group, after, &woken) }
    }

    private mutating func notify(_ key: Int64, _ group: Int64, _ score: Int64, _ woken: inout [NoopConnection]) {
        guard score != Self.absent else { return }
        if index == nil { index = PredicateIndex(queries) }
        index!.forEachMatch(key: key, group: group, score: score) { query in
            for connection in watchers[query] where connection.inbox.post(query) { woken.append(connection) }
        }
    }
}
