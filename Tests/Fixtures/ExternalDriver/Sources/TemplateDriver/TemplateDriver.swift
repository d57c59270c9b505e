// A driver to copy: a small store that pushes changes, driven through four protocols. Replace the parts marked "your
// engine" and rename the rest. It keeps rows in a dictionary and delivers whole values.
//
// `lock` guards the rows and the version. `locked` is called while it is held, because it reports exactly that.
import Foundation
import TidegaugeDriver

/// 1. Opens stores and describes the engine. A scenario that requires more is skipped.
public struct TemplateDriver: StoreDriver {
    public let name = "template"

    public init() {}

    public var facts: EngineFacts {
        EngineFacts(durabilities: [.memory], persists: false, hasChangeSets: false) { $0.readsBesideWriter = false }
    }

    public func open(_ configuration: StoreConfiguration) -> TemplateStore { TemplateStore() }
}

/// 2. One open store. Your engine goes here. Further abilities are protocols to conform to: `CallableOnSite`, `Pinning`
/// and the others of Sources/TidegaugeDriver/Abilities.swift.
public final class TemplateStore: DrivenStore, @unchecked Sendable {
    private let lock = NSLock()
    private var rows: [Int64: Item] = [:]
    private var version: Int64 = 1
    /// The threads and queues that observe.
    private let sites = SiteMap<PullingSite<TemplateSubscription>>("template sites")

    public func load(count: Int, item: (Int) -> Item) {
        lock.withLock { for index in 0..<count { rows[Int64(index)] = item(index) } }
    }

    public func makeWriter() -> any StoreWriter { TemplateWriter(self) }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64 {
        let committed: Int64 = try lock.withLock {
            locked()  // your engine's write lock is held: the harness reads the time
            var changed = rows  // a transaction: all changes or none
            for change in changes { try Self.apply(change, &changed) }
            rows = changed
            version += 1
            return version
        }
        for site in sites.all { site.raise() }
        return committed
    }

    private static func apply(_ change: Change, _ rows: inout [Int64: Item]) throws {
        let item = change.item
        if change.operation != .insert, rows[item.key] == nil { throw MissingItem(key: item.key) }
        switch change.operation {
        case .insert: rows[item.key] = item
        case .updateScore:
            rows[item.key]?.score = item.score
            rows[item.key]?.stamp = item.stamp
        case .touch, .moveToFront: rows[item.key]?.stamp = item.stamp
        case .delete: rows[item.key] = nil
        }
    }

    /// Called on the thread or queue of `site`. Every delivery must run there. A `PullingSite` ensures that.
    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) -> any DriverSubscription {
        let subscription = TemplateSubscription(query, sink)
        sites.value(at: site) { PullingSite(site, "template delivery") { [weak self] in self?.deliver(to: $0) } }
            .add(subscription)  // requests the first delivery, which is the initial one
        return subscription
    }

    /// Delivers one version to all subscriptions of a delivery context. Called on the context, without a lock.
    private func deliver(to all: [TemplateSubscription]) {
        let (version, items) = state(all.map(\.query))
        for (subscription, found) in zip(all, items) { subscription.show(found, version) }
    }

    /// The harness's reference: evaluates the query from scratch.
    public func contents(of query: Query) -> [Item] { state([query]).items[0] }

    /// Returns the rows of all queries and their common version. Your engine's read transaction.
    func state(_ queries: [Query]) -> (version: Int64, items: [[Item]]) {
        let (version, all) = lock.withLock { (self.version, Array(rows.values)) }
        let items = queries.map { query in
            let found = all.filter { query.matches(key: $0.key, group: $0.group, score: $0.score) }
            return found.sorted { query.order == .scoreDescending ? $0.score > $1.score : $0.score < $1.score }
        }
        return (version, items)
    }

    public func fileBytes() -> Int { 0 }

    /// Ends all deliveries. None starts after it has returned.
    public func close() { for site in sites.removeAll() { site.end() } }
}

/// 3. Commits transactions. Used by one thread.
final class TemplateWriter: StoreWriter {
    private let store: TemplateStore

    init(_ store: TemplateStore) { self.store = store }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        try store.commit(changes, locked: locked)
    }
}

/// 4. A subscription of a sink. `CancellableSink` makes the check for cancellation and the call one step.
final class TemplateSubscription: PullingSubscription, @unchecked Sendable {
    let query: Query
    private let sink: CancellableSink
    private var shown: [Item]?

    init(_ query: Query, _ sink: any DeliverySink) {
        self.query = query
        self.sink = CancellableSink(sink)
    }

    func show(_ items: [Item], _ version: Int64) {
        guard items != shown else { return }
        let isInitial = shown == nil
        // Set before the call, because the called observer reads the new rows.
        shown = items
        sink.deliver(Delivery(version: version, isInitial: isInitial, count: items.count))
    }

    func cancel() { sink.cancel() }

    var isCancelled: Bool { sink.isCancelled }

    func currentItems() -> [Item] { shown ?? [] }
}
