// The store behind the controllers. `lock` guards `connections` and `places`; whatever is taken out of them is used on its
// site.
import FetchedResults
import LiveStore
import StoreDriver
import TracedSync

public final class ControlledStore: CallableOnSite, TransactionalReading, AsynchronousWriting, @unchecked Sendable {
    private static let loadBatch = 50_000

    let store: Store
    private let delivery: FetchedResultsDriver.Delivery
    private let lock = TracedMutex("driver connections")
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var places: [ObjectIdentifier: LegacyPlace] = [:]
    private var subscriptions: [WeakControlled] = []

    private struct WeakControlled { weak var value: ControlledSubscription? }

    init(_ store: Store, _ delivery: FetchedResultsDriver.Delivery) {
        self.store = store
        self.delivery = delivery
    }

    public func load(count: Int, item: (Int) -> Item) throws {
        for start in stride(from: 0, to: count, by: Self.loadBatch) {
            try store.write { connection in
                for index in start..<min(count, start + Self.loadBatch) { try connection.add(ShownRow(item(index))) }
            }
        }
    }

    public func makeWriter() -> any StoreWriter { LoggingWriter(store) }

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any Subscription {
        let connection = try connection(at: site)
        let place = place(of: site)
        let request = FetchRequest(ShownRow.self) { Self.results(query, $0) }
        let controller = FetchedResultsController(
            connection, request, delivery: delivery == .live ? .live : .legacySynchronous(on: place))
        let subscription = try ControlledSubscription(controller, sink, isLegacy: delivery == .legacy)
        lock.withLock {
            subscriptions.removeAll { $0.value == nil }
            subscriptions.append(WeakControlled(value: subscription))
        }
        return subscription
    }

    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        let connection = try connection(at: site)
        switch call {
        case .beginWrite:
            try connection.beginWrite()
            granted()
            try connection.cancelWrite()
        case .refresh:
            let mine = lock.withLock { subscriptions.compactMap(\.value) }.filter { $0.isOf(connection) }
            for subscription in mine { try subscription.refresh() }
            if mine.isEmpty { try connection.refresh() }
            granted()
        }
    }

    private func connection(at site: DeliverySite) throws -> Connection {
        let key = site.identity
        if let known = lock.withLock({ connections[key] }) { return known }
        let kind: Store.Site =
            switch site {
            case .runLoop: .runLoop
            case .queue(let queue): .queue(queue)
            }
        let connection = try store.connect(on: kind)
        lock.withLock { connections[key] = connection }
        return connection
    }

    private func place(of site: DeliverySite) -> LegacyPlace {
        let key = site.identity
        if let known = lock.withLock({ places[key] }) { return known }
        let place: LegacyPlace =
            switch site {
            case .runLoop: .runLoop(RunLoopHandOff("fetched results"))
            case .queue(let queue): .queue(queue)
            }
        lock.withLock { places[key] = place }
        return place
    }

    static func results(_ query: Query, _ all: Results<ShownRow>) -> Results<ShownRow> {
        var results = all
        if let group = query.group { results = results.where(\.group == Int(group)) }
        if let scores = query.scores {
            results = results.where(\.score >= Int(scores.lowerBound) && \.score < Int(scores.upperBound))
        }
        if let keys = query.keys {
            results = results.where(\.key >= Int(keys.lowerBound) && \.key < Int(keys.upperBound))
        }
        return switch query.order {
        case .none, .list: results
        case .scoreAscending: results.sorted(by: \.score)
        case .scoreDescending: results.sorted(by: \.score, ascending: false)
        }
    }

    public func contents(of query: Query) throws -> [Item] {
        try store.read { Self.results(query, try $0.objects(ShownRow.self)).map(\.item) }
    }

    public func fileBytes() throws -> Int { store.fileBytes }

    public func read(_ body: () throws -> Void) throws { try store.read { _ in try body() } }

    public func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws {
        store.writeAsync({ connection in
            within()
            for change in changes { try LoggingWriter.apply(change, connection, nil) }
        }) { _ in }
    }

    public func close() throws {
        for subscription in lock.withLock({ subscriptions.compactMap(\.value) }) { subscription.cancel() }
        store.close()
        let ending = lock.withLock {
            defer { connections = [:] }
            return connections
        }
        withExtendedLifetime(ending) {}
    }
}

/// Commits and has its changes told.
final class LoggingWriter: StoreWriter {
    private let store: Store

    init(_ store: Store) { self.store = store }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        try store.writeWithNotification { connection, logger in
            locked()
            for change in changes { try Self.apply(change, connection, logger) }
            return Int64(connection.version) + (changes.isEmpty ? 0 : 1)
        }
    }

    static func apply(_ change: Change, _ connection: Connection, _ logger: ChangeLogger?) throws {
        if change.operation == .insert {
            let row = ShownRow(change.item)
            try connection.add(row)
            logger?.didAdd(row)
            return
        }
        guard let row = try connection.object(ShownRow.self, forPrimaryKey: Int(change.item.key)) else {
            throw MissingItem(key: change.item.key)
        }
        switch change.operation {
        case .insert: break
        case .updateScore:
            row.score = Int(change.item.score)
            row.stamp = Int(change.item.stamp)
            logger?.didChange(row)
        case .touch, .moveToFront:
            row.stamp = Int(change.item.stamp)
            logger?.didChange(row)
        case .delete:
            logger?.willDelete(row)
            try connection.delete(row)
        }
    }
}
