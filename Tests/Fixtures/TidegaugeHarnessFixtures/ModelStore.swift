// A simple and correct store. It keeps all rows in a dictionary, evaluates every query from scratch for every delivery,
// and compares whole arrays for change sets.
//
// `lock` guards the rows and the version. `locked` is called while it is held.
import Foundation
import StillingWellSync
import TidegaugeDriver

/// A correct in-memory store for a few thousand rows.
public final class ModelStore: SiteForgetting, WholeRowStore, AnsweringStore, @unchecked Sendable {
    private let lock = TracedMutex("model store")
    private var version: Int64 = 1
    /// A row with its order of insertion and its position in a list of all rows.
    private struct Row {
        var item: Item
        var age: Int
        /// Position in the list.
        var place: Int
    }
    private var rows: [Int64: Row] = [:]
    private var ages = 0
    private var fronts = 0
    private let sites = SiteMap<PullingSite<ModelSubscription>>("model sites")

    /// Additional time of each commit in ns.
    private let delayNs: Int64

    /// Further content of rows, which is derived instead of stored.
    private let shape: RowShape

    public init(delayNs: Int64 = 0, rows shape: RowShape = .plain) { (self.delayNs, self.shape) = (delayNs, shape) }

    public func load(count: Int, item: (Int) -> Item) {
        let items = (0..<count).map(item)
        lock.withLock {
            for item in items { insert(item) }
            version += 1
        }
    }

    private func insert(_ item: Item) {
        rows[item.key] = Row(item: item, age: ages, place: ages)
        ages += 1
    }

    public func makeWriter() -> any StoreWriter { ModelWriter(self) }

    func commit(_ changes: [Change], locked: () -> Void) throws -> Int64 {
        if delayNs > 0 { usleep(UInt32(delayNs / 1_000)) }
        let committed: Int64 = try lock.withLock {
            locked()
            let before = rows
            do {
                for change in changes { try apply(change) }
            } catch {
                rows = before
                throw error
            }
            version += 1
            return version
        }
        for site in sites.all { site.raise() }
        return committed
    }

    private func apply(_ change: Change) throws {
        let key = change.item.key
        guard change.operation == .insert || rows[key] != nil else { throw MissingItem(key: key) }
        switch change.operation {
        case .insert: insert(change.item)
        case .updateScore:
            rows[key]!.item.score = change.item.score
            rows[key]!.item.stamp = change.item.stamp
        case .moveToFront:
            rows[key]!.item.stamp = change.item.stamp
            fronts -= 1
            rows[key]!.place = fronts
        case .touch: rows[key]!.item.stamp = change.item.stamp
        case .delete: rows[key] = nil
        }
    }

    public func contents(of query: Query) -> [Item] { snapshot(query).items }

    public func forEachRow(of query: Query, _ body: (WholeRow) -> Void) {
        for item in contents(of: query) { body(shape.whole(item)) }
    }

    /// Returns the rows of a query and their version.
    func snapshot(_ query: Query) -> (version: Int64, items: [Item]) {
        let (head, all): (Int64, [Row]) = lock.withLock { (version, Array(rows.values)) }
        let matching = all.filter { query.matches(key: $0.item.key, group: $0.item.group, score: $0.item.score) }
        let ordered = matching.sorted { a, b in
            switch query.order {
            case .none: return a.age < b.age
            case .list: return a.place < b.place
            case .scoreAscending: return a.item.score < b.item.score
            case .scoreDescending: return a.item.score > b.item.score
            }
        }
        return (head, ordered.map { $0.item })
    }

    /// Returns the rows of all queries at one version. There must be at least one query.
    func snapshots(_ queries: [Query]) -> (version: Int64, items: [[Item]]) {
        while true {
            let taken = queries.map { snapshot($0) }
            let head = taken[0].version
            if taken.allSatisfy({ $0.version == head }) { return (head, taken.map { $0.items }) }
        }
    }

    public func fileBytes() -> Int { 0 }

    public func close() { for site in sites.removeAll() { site.end() } }

    public func forget(_ site: DeliverySite) { sites.remove(site)?.end() }

    public func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) -> any DriverSubscription {
        let subscription = ModelSubscription(query, shape, sink)
        sites.value(at: site) { PullingSite(site, "model delivery") { [weak self] in self?.deliver(to: $0) } }
            .add(subscription)
        return subscription
    }

    /// Delivers one version to all subscriptions of a delivery context. Called on the context.
    private func deliver(to all: [ModelSubscription]) {
        if all.isEmpty { return }
        let (version, items) = snapshots(all.map(\.query))
        for (subscription, rows) in zip(all, items) { subscription.show(rows, version) }
    }
}

final class ModelWriter: StoreWriter {
    private let store: ModelStore

    init(_ store: ModelStore) { self.store = store }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        try store.commit(Array(changes), locked: locked)
    }
}

/// Opens `ModelStore`s.
public struct ModelDriver: StoreDriver {
    private let delayNs: Int64

    /// - Parameter delayNs: additional time of each commit.
    public init(delayNs: Int64 = 0) { self.delayNs = delayNs }

    public var name: String { "model" }
    public var facts: EngineFacts {
        EngineFacts(durabilities: [.memory], persists: false, hasChangeSets: true) {
            $0.readsBesideWriter = false
            $0.hasLists = true
        }
    }

    public func open(_ configuration: StoreConfiguration) -> ModelStore {
        ModelStore(delayNs: delayNs, rows: configuration.rows)
    }
}
