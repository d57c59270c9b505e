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
        var capabilities = Capabilities(
            durabilities: [.full, .relaxed, .memory], keyKinds: Set(KeyKind.allCases), canDeliverOnRunLoop: true,
            canDeliverOnQueue: true, hasChangeSets: true, hasVersions: true, persists: true, canCallOnSite: true,
            upkeepThreadPrefixes: ["livestore"])
        capabilities.hasLists = true
        capabilities.deepestLinks = HeadRow.deepest
        capabilities.hasPublishers = true
        capabilities.canReadFirst = true
        capabilities.canPin = true
        capabilities.isShared = true
        capabilities.forgetsSites = true
        return capabilities
    }

    public func open(_ configuration: StoreConfiguration) throws -> any DrivenStore {
        let durability: LiveStore.Durability =
            switch configuration.durability {
            case .full: .full
            case .relaxed: .relaxed
            case .memory: .memory
            }
        func store<Row: DrivenRow, Shown: DrivenRow>(
            of _: Row.Type, shown _: Shown.Type, _ others: [StoredObject.Type], _ company: RowCompany<Row> = .none
        ) throws -> any DrivenStore {
            let store = try Store(
                .init(path: configuration.directory, models: [Row.self] + others, durability: durability))
            return DrivenLiveStore<Row, Shown>(store, company, configuration)
        }
        if configuration.links > 0 {
            return try store(
                of: ItemRow.self, shown: HeadRow.self, [HeadRow.self, LinkRow.self], .chained(configuration.links))
        }
        if configuration.hasList {
            switch configuration.keys {
            case .ascending: return try store(of: ItemRow.self, shown: ItemRow.self, [RowList.self], .listed)
            case .uuid: throw DriverUnavailable("the driver keeps rows with ascending keys in a list, and no others")
            }
        }
        return switch configuration.keys {
        case .ascending: try store(of: ItemRow.self, shown: ItemRow.self, [])
        case .uuid: try store(of: UUIDItemRow.self, shown: UUIDItemRow.self, [])
        }
    }
}

/// Writers change rows of `Row`; queries find those of `Shown`, which are the same or lead to them over links.
final class DrivenLiveStore<Row: DrivenRow, Shown: DrivenRow>: DrivenStore, @unchecked Sendable {
    /// Objects per transaction while loading: small enough for the log to list, large enough to cost nothing.
    private static var loadBatch: Int { 50_000 }

    private let store: Store
    private let company: RowCompany<Row>
    private let configuration: StoreConfiguration
    private let lock = TracedMutex("driver connections")
    /// By the queue, or by the thread whose run loop it is.
    private var connections: [ObjectIdentifier: Connection] = [:]

    init(_ store: Store, _ company: RowCompany<Row>, _ configuration: StoreConfiguration) {
        self.store = store
        self.company = company
        self.configuration = configuration
    }

    func load(count: Int, item: (Int) -> Item) throws {
        for start in stride(from: 0, to: count, by: Self.loadBatch) {
            try store.write { connection in
                for index in start..<min(count, start + Self.loadBatch) {
                    let row = Row(item(index))
                    try connection.add(row)
                    try company.added(row, connection)
                }
            }
        }
    }

    func makeWriter() throws -> any StoreWriter { LiveStoreWriter<Row>(store, company) }

    func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any Subscription {
        let connection = try connection(at: site)
        if query.order == .list { return try LiveStoreListSubscription(RowList.rows(connection), connection, sink) }
        let results = try Self.results(query, connection)
        if configuration.readsFirst { _ = results.count }
        if configuration.operators > 0 { return try PublishedSubscription(results, configuration.operators, sink) }
        return try LiveStoreSubscription(results, sink)
    }

    func forget(_ site: DeliverySite) {
        let ending = lock.withLock { connections.removeValue(forKey: site.identity) }
        withExtendedLifetime(ending) {}
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
        nonisolated(unsafe) let company = company
        store.writeAsync({ connection in
            within()
            let writer = LiveStoreWriter<Row>(connection.store, company)
            for change in changes { try writer.apply(change, connection) }
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

    static func results(_ query: Query, _ connection: Connection) throws -> Results<Shown> {
        var results = try connection.objects(Shown.self)
        if let group = query.group { results = results.where(\.group == Int(group)) }
        if let scores = query.scores {
            results = results.where(\.score >= Int(scores.lowerBound) && \.score < Int(scores.upperBound))
        }
        if let keys = query.keys, let numbers = Shown.numbers {
            results = results.where(numbers >= Int(keys.lowerBound))
            if keys.upperBound < .max { results = results.where(numbers < Int(keys.upperBound)) }
        }
        return switch query.order {
        case .none, .list: results
        case .scoreAscending: results.sorted(by: \.score)
        case .scoreDescending: results.sorted(by: \.score, ascending: false)
        }
    }

    func contents(of query: Query) throws -> [Item] {
        try store.read { connection in
            if query.order == .list { return try RowList.rows(connection).map(\.item) }
            return try Self.results(query, connection).map(\.item)
        }
    }

    func compactedBytes() throws -> Int {
        // Beside the store, in the trial's own folder: on the same file system, and where nobody else can be.
        let folder = URL(fileURLWithPath: configuration.directory).appendingPathComponent(
            "compact-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try store.compact(to: folder.path)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try files.reduce(0) { sum, file in
            let path = folder.appendingPathComponent(file).path
            // Pages in use, as `fileBytes` counts them: a file may have holes.
            var status = stat()
            guard stat(path, &status) == 0 else { throw DriverUnavailable("the compacted store cannot be read") }
            return sum + Int(status.st_blocks) * 512
        }
    }

    func activeVersions() throws -> Int { store.activeVersions }

    func pin() throws -> AnyObject { try HeldVersion<Row>(store) }

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
    private let company: RowCompany<Row>

    init(_ store: Store, _ company: RowCompany<Row>) {
        self.store = store
        self.company = company
    }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        try store.write { connection in
            locked()
            for change in changes { try apply(change, connection) }
            // A transaction that changes nothing makes no version.
            return Int64(connection.version) + (changes.isEmpty ? 0 : 1)
        }
    }

    func apply(_ change: Change, _ connection: Connection) throws {
        if change.operation == .insert {
            let row = Row(change.item)
            try connection.add(row)
            return try company.added(row, connection)
        }
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
        case .moveToFront:
            row.stamp = Int(change.item.stamp)
            try company.movedToFront(row, connection)
        case .delete: try connection.delete(row)
        }
    }
}

/// By a name that the publishers' module has not taken.
typealias DriverSubscription = Subscription
