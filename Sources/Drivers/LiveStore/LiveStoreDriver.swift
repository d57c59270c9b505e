// LiveStore seen from the harness. One store, one connection per delivery site, one `Results` per subscription.
//
// `connections` (guarded by `lock`) keeps the connection of each site, so that all observers of a site share one, as
// an application's would.
import Foundation
import LiveStore
import StoreDriver
import TracedSync

public struct LiveStoreDriver: StoreDriver {
    public let name = "livestore"

    public init() {}

    public var capabilities: Capabilities {
        Capabilities(
            durabilities: [.full, .relaxed, .memory], keyKinds: Set(KeyKind.allCases), canDeliverOnRunLoop: true,
            canDeliverOnQueue: true, hasChangeSets: true, hasVersions: true, persists: true, canCallOnSite: true,
            upkeepThreadPrefixes: ["livestore"])
    }

    public func open(_ configuration: StoreConfiguration) throws -> any DrivenStore {
        let durability: LiveStore.Durability =
            switch configuration.durability {
            case .full: .full
            case .relaxed: .relaxed
            case .memory: .memory
            }
        func store<Row: DrivenRow>(of _: Row.Type) throws -> DrivenLiveStore<Row> {
            DrivenLiveStore(
                try Store(.init(path: configuration.directory, models: [Row.self], durability: durability)))
        }
        return switch configuration.keys {
        case .ascending: try store(of: ItemRow.self)
        case .uuid: try store(of: UUIDItemRow.self)
        }
    }
}

final class DrivenLiveStore<Row: DrivenRow>: DrivenStore, @unchecked Sendable {
    /// Objects per transaction while loading: small enough for the log to list, large enough to cost nothing.
    private static var loadBatch: Int { 50_000 }

    private let store: Store
    private let lock = TracedMutex("driver connections")
    /// By the queue, or by the thread whose run loop it is.
    private var connections: [ObjectIdentifier: Connection] = [:]

    init(_ store: Store) { self.store = store }

    func load(count: Int, item: (Int) -> Item) throws {
        for start in stride(from: 0, to: count, by: Self.loadBatch) {
            try store.write { connection in
                for index in start..<min(count, start + Self.loadBatch) { try connection.add(Row(item(index))) }
            }
        }
    }

    func makeWriter() throws -> any StoreWriter { LiveStoreWriter<Row>(store) }

    func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any Subscription {
        let connection = try connection(at: site)
        return try LiveStoreSubscription(Self.results(query, connection), sink)
    }

    func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        let connection = try connection(at: site)
        switch call {
        case .beginWrite:
            try connection.beginWrite()
            granted()
            try connection.cancelWrite()
        case .refresh:
            try connection.refresh()
            granted()
        }
    }

    func read(_ body: () throws -> Void) throws { try store.read { _ in try body() } }

    func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws {
        store.writeAsync({ connection in
            within()
            for change in changes { try LiveStoreWriter<Row>.apply(change, connection) }
        }) { _ in }
    }

    private func connection(at site: DeliverySite) throws -> Connection {
        let key = site.identity
        let place: Store.Site =
            switch site {
            case .runLoop: .runLoop
            case .queue(let queue): .queue(queue)
            }
        if let known = lock.withLock({ connections[key] }) { return known }
        let connection = try store.connect(on: place)
        lock.withLock { connections[key] = connection }
        return connection
    }

    static func results(_ query: Query, _ connection: Connection) throws -> Results<Row> {
        var results = try connection.objects(Row.self)
        if let group = query.group { results = results.where(\.group == Int(group)) }
        if let scores = query.scores {
            results = results.where(\.score >= Int(scores.lowerBound) && \.score < Int(scores.upperBound))
        }
        if let keys = query.keys, let numbers = Row.numbers {
            results = results.where(numbers >= Int(keys.lowerBound))
            if keys.upperBound < .max { results = results.where(numbers < Int(keys.upperBound)) }
        }
        return switch query.order {
        case .none: results
        case .scoreAscending: results.sorted(by: \.score)
        case .scoreDescending: results.sorted(by: \.score, ascending: false)
        }
    }

    func contents(of query: Query) throws -> [Item] {
        try store.read { try Self.results(query, $0).map(\.item) }
    }

    func fileBytes() throws -> Int { store.fileBytes }

    func close() throws {
        store.close()
        let ending = lock.withLock {
            defer { connections = [:] }
            return connections
        }
        withExtendedLifetime(ending) {}
    }
}

final class LiveStoreWriter<Row: DrivenRow>: StoreWriter {
    private let store: Store

    init(_ store: Store) { self.store = store }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        try store.write { connection in
            locked()
            for change in changes { try Self.apply(change, connection) }
            // A transaction that changes nothing makes no version.
            return Int64(connection.version) + (changes.isEmpty ? 0 : 1)
        }
    }

    static func apply(_ change: Change, _ connection: Connection) throws {
        if change.operation == .insert { return try connection.add(Row(change.item)) }
        guard let row = try connection.object(Row.self, forPrimaryKey: Row.primaryKey(change.item.key))
        else {
            throw MissingItem(key: change.item.key)
        }
        switch change.operation {
        case .insert: break
        case .updateScore:
            row.score = Int(change.item.score)
            row.stamp = Int(change.item.stamp)
        case .touch: row.stamp = Int(change.item.stamp)
        case .delete: try connection.delete(row)
        }
    }
}

final class LiveStoreSubscription<Row: DrivenRow>: Subscription, @unchecked Sendable {
    // Used on the site only, as the connection demands.
    private let results: Results<Row>
    private let token: NotificationToken

    init(_ results: Results<Row>, _ sink: any DeliverySink) throws {
        self.results = results
        token = try results.observe { change in
            switch change {
            case .initial(let results):
                sink.deliver(
                    Delivery(version: Int64(results.connection.version), isInitial: true, count: results.count))
            case .update(let results, let changes):
                sink.deliver(
                    Delivery(
                        version: Int64(results.connection.version), isInitial: false, count: results.count,
                        deletions: changes.deletions, insertions: changes.insertions,
                        modifications: changes.modificationsNew, moveCount: changes.moves.count))
            case .error(let error): sink.fail(error)
            }
        }
    }

    func cancel() { token.invalidate() }

    func currentItems() throws -> [Item] { results.map(\.item) }
}
