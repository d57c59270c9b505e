// The model that is observed: all rows in a dictionary, which queries concern a row by a static index.
//
// `writeLock` is held by one commit at a time. `lock` guards everything mutable here; nothing is called under it. Under
// `writeLock` the writer's `locked` hook is.
import Foundation
import StoreDriver
import TracedSync

public final class NotifyingStore: DrivenStore, @unchecked Sendable {
    /// A row and the number it was inserted under, which is the order of a query that asks for none.
    private struct Row {
        var item: Item
        var age: Int
    }

    private let writeLock = TracedMutex("notifying store writers")
    private let lock = TracedMutex("notifying store")
    private var rows: [Int64: Row] = [:]
    private var ages = 0
    private var version: Int64 = 1
    private var queries: [Query] = []
    /// Made anew by the first commit after a new query.
    private var index: QueryIndex? = QueryIndex([])
    /// Parallel to `queries`.
    private var watchers: [[ObservingThread]] = []
    private let threads = SiteMap<ObservingThread>("notifying threads")

    private let isTyped: Bool

    init(isTyped: Bool) { self.isTyped = isTyped }

    var head: Int64 { lock.withLock { version } }

    public func load(count: Int, item: (Int) -> Item) {
        let items = (0..<count).map(item)
        lock.withLock {
            for item in items { insert(item) }
            version += 1
        }
    }

    private func insert(_ item: Item) {
        rows[item.key] = Row(item: item, age: ages)
        ages += 1
    }

    public func makeWriter() -> any StoreWriter { CommittingWriter { [self] in try commit($0, locked: $1) } }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64 {
        var concerned: Set<Int> = []
        let (committed, posts): (Int64, [(query: Int, thread: ObservingThread)]) = try writeLock.withLock {
            locked()
            return try lock.withLock {
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
        }
        for post in posts { post.thread.post(post.query) }
        return committed
    }

    private func apply(_ change: Change, _ concerned: inout Set<Int>) throws {
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

    /// Notes the queries that a row is in now.
    private func note(_ key: Int64, _ concerned: inout Set<Int>) {
        guard let item = rows[key]?.item else { return }
        if index == nil { index = QueryIndex(queries) }
        index!.forEachMatch(key: key, group: item.group, score: item.score) { concerned.insert($0) }
    }

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any Subscription {
        guard case .runLoop = site else {
            throw DriverUnavailable("a NotificationQueue belongs to a run loop: observe with 'deliver: run-loop'")
        }
        let thread = threads.value(at: site) {
            ObservingThread(site, isTyped ? TypedAnnouncer() : FoundationAnnouncer())
        }
        let number: Int = lock.withLock {
            let number = self.number(of: query)
            if !watchers[number].contains(where: { $0 === thread }) { watchers[number].append(thread) }
            return number
        }
        let subscription = NotifiedSubscription(self, query, sink)
        thread.add(subscription, number)
        return subscription
    }

    private func number(of query: Query) -> Int {
        if let known = queries.firstIndex(of: query) { return known }
        queries.append(query)
        watchers.append([])
        index = nil
        return queries.count - 1
    }

    public func contents(of query: Query) -> [Item] {
        let all = lock.withLock { Array(rows.values) }
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
        lock.withLock { watchers = watchers.map { _ in [] } }
        for thread in threads.removeAll() { thread.end() }
    }
}
