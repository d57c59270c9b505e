// The observed model: all rows in a dictionary, and an index from a row's values to the queries that contain it. The
// index is rebuilt after a new query.
//
// `writeLock` is held by one commit at a time; the writer's `locked` hook is called under it. No other lock is taken
// while the lock of `model` is held.
import Foundation
import StillingWellSync
import TidegaugeDriver

public final class NotifyingStore: DrivenStore {
    private let writeLock = TracedMutex("notifying store writers")
    private let model = Guarded("notifying store", ObservedModel())
    private let threads = SiteMap<ObservingThread>("notifying threads")

    private let isTyped: Bool

    init(isTyped: Bool) { self.isTyped = isTyped }

    var head: Int64 { model.withLock { $0.version } }

    public func load(count: Int, item: (Int) -> Item) {
        let items = (0..<count).map(item)
        model.withLock { $0.load(items) }
    }

    public func makeWriter() -> any StoreWriter {
        CommittingWriter { [self] changes, locked in
            let (committed, posts) = try writeLock.withLock {
                locked()
                return try model.withLock { try $0.commit(changes) }
            }
            for post in posts { post.thread.post(post.query) }
            return committed
        }
    }

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws
        -> any DriverSubscription
    {
        guard case .runLoop = site else {
            throw DriverUnavailable("a NotificationQueue belongs to a run loop: observe with 'deliver: run-loop'")
        }
        let thread = threads.value(at: site) {
            ObservingThread(site, isTyped ? TypedAnnouncer() : FoundationAnnouncer())
        }
        let number = model.withLock { $0.watch(query, thread) }
        let subscription = NotifiedSubscription(self, query, sink)
        thread.add(subscription, number)
        return subscription
    }

    public func contents(of query: Query) -> [Item] {
        let all = model.withLock { Array($0.rows.values) }
        let found = all.filter { query.matches(key: $0.item.key, group: $0.item.group, score: $0.item.score) }
        let ordered = found.sorted { a, b in
            switch query.order {
            case .none, .list: return a.age < b.age
            case .scoreAscending: return a.item.score < b.item.score
            case .scoreDescending: return a.item.score > b.item.score
            }
        }
        return ordered.map { $0.item }
    }

    public func fileBytes() -> Int { 0 }

    public func close() {
        model.withLock { $0.forgetWatchers() }
        for thread in threads.removeAll() { thread.end() }
    }
}

/// The rows, and the threads that observe each query.
private struct ObservedModel {
    /// A row and its insertion number, which is the order of queries without an order.
    struct Row {
        var item: Item
        var age: Int
    }

    private(set) var version: Int64 = 1
    private(set) var rows: [Int64: Row] = [:]
    private var ages = 0
    private var queries: [Query] = []
    /// Nil after a new query; made again when it is needed.
    private var index: PredicateIndex? = PredicateIndex([])
    /// Parallel to `queries`.
    private var watchers: [[ObservingThread]] = []

    mutating func load(_ items: [Item]) {
        for item in items { insert(item) }
        version += 1
    }

    private mutating func insert(_ item: Item) {
        rows[item.key] = Row(item: item, age: ages)
        ages += 1
    }

    /// - Returns: the version, and the threads to notify for each affected query.
    mutating func commit(
        _ changes: UnsafeBufferPointer<Change>
    ) throws -> (version: Int64, posts: [(query: Int, thread: ObservingThread)]) {
        var concerned: Set<Int> = []
        var before: [(key: Int64, row: Row?)] = []
        do {
            for change in changes {
                before.append((change.item.key, rows[change.item.key]))
                try apply(change, &concerned)
            }
        } catch {
            for (key, row) in before.reversed() { rows[key] = row }
            throw error
        }
        version += 1
        return (version, concerned.flatMap { query in watchers[query].map { (query, $0) } })
    }

    private mutating func apply(_ change: Change, _ concerned: inout Set<Int>) throws {
        let key = change.item.key
        guard change.operation == .insert || rows[key] != nil else { throw MissingItem(key: key) }
        note(key, &concerned)
        switch change.operation {
        case .insert: insert(change.item)
        case .updateScore:
            rows[key]!.item.score = change.item.score
            rows[key]!.item.stamp = change.item.stamp
        case .touch, .moveToFront: rows[key]!.item.stamp = change.item.stamp
        case .delete: rows[key] = nil
        }
        note(key, &concerned)
    }

    /// Adds the queries that currently contain the row.
    private mutating func note(_ key: Int64, _ concerned: inout Set<Int>) {
        guard let item = rows[key]?.item else { return }
        if index == nil { index = PredicateIndex(queries) }
        index!.forEachMatch(key: key, group: item.group, score: item.score) { concerned.insert($0) }
    }

    /// - Returns: the query's number.
    mutating func watch(_ query: Query, _ thread: ObservingThread) -> Int {
        let number = number(of: query)
        if !watchers[number].contains(where: { $0 === thread }) { watchers[number].append(thread) }
        return number
    }

    private mutating func number(of query: Query) -> Int {
        if let known = queries.firstIndex(of: query) { return known }
        queries.append(query)
        watchers.append([])
        index = nil
        return queries.count - 1
    }

    mutating func forgetWatchers() { watchers = watchers.map { _ in [] } }
}
