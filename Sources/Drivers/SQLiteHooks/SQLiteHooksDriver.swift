// SQLite by itself, as applications watch it that have no library for it: hooks note which rows a transaction touched, and
// after the commit every observing site is told to look, with a connection of its own.
//
// `writeLock` is held by one transaction at a time and guards `writer`, `journal` and `version`.
import Foundation
import StoreDriver
import TracedSync

public struct SQLiteHooksDriver: StoreDriver {
    public let name = "sqlite-hooks"

    public init() {}

    public var facts: EngineFacts {
        EngineFacts(durabilities: Set(Durability.allCases), persists: true, hasChangeSets: false) {
            $0.shows = .keys
            $0.remarks = [
                "a query that shows or matches a touched row is run again as a whole, on the observing thread",
                "'memory' is a WAL file on tmpfs",
            ]
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> HookedStore {
        try HookedStore(configuration)
    }
}

public final class HookedStore: CallableOnSite, @unchecked Sendable {
    private let path: String
    private let synchronous: String
    private let writeLock = TracedMutex("sqlite write lock")
    private let writer: SQLiteConnection
    private let journal: HookJournal
    private var version: Int64 = 0
    private let sites = SiteMap<HookedSite>("sqlite driver")

    init(_ configuration: StoreConfiguration) throws {
        path = configuration.directory + "/store.sqlite"
        synchronous = configuration.durability == .full ? "FULL" : "NORMAL"
        writer = try SQLiteConnection(path: path, synchronous: synchronous)
        try writer.execute(ItemTable.schema)
        journal = HookJournal(writer)
    }

    public func load(count: Int, item: (Int) -> Item) throws {
        try write(locked: {}) {
            for index in 0..<count { try apply(Change(.insert, item(index))) }
        }
    }

    public func makeWriter() -> any StoreWriter { CommittingWriter { [self] in try commit($0, locked: $1) } }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64 {
        try write(locked: locked) {
            for change in changes { try apply(change) }
        }
    }

    @discardableResult
    private func write(locked: () -> Void, _ body: () throws -> Void) throws -> Int64 {
        let (committed, touched): (Int64, TouchedRows) = try writeLock.withLock {
            try writer.run("BEGIN IMMEDIATE")
            do {
                locked()
                try body()
                version += 1
                try writer.run(ItemTable.setVersion, [version])
                try writer.run("COMMIT")
            } catch {
                try? writer.run("ROLLBACK")
                throw error
            }
            return (version, journal.take())
        }
        if !touched.isEmpty {
            for site in sites.all { site.tell(touched) }
        }
        return committed
    }

    private func apply(_ change: Change) throws {
        let item = change.item
        switch change.operation {
        case .insert:
            try writer.run(ItemTable.insert, [item.key, item.group, item.score, item.stamp])
        case .updateScore:
            try writer.run(ItemTable.updateScore, [item.score, item.stamp, item.key])
        case .touch, .moveToFront: try writer.run(ItemTable.touch, [item.stamp, item.key])
        case .delete: try writer.run(ItemTable.delete, [item.key])
        }
        if writer.changes == 0 { throw MissingItem(key: item.key) }
    }

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any Subscription {
        try self.site(site).subscribe(to: query, sink)
    }

    private func site(_ site: DeliverySite) throws -> HookedSite {
        try sites.value(at: site) { HookedSite(try connect(), site) }
    }

    private func connect() throws -> SQLiteConnection { try SQLiteConnection(path: path, synchronous: synchronous) }

    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        switch call {
        case .beginWrite:
            try writeLock.withLock {
                try writer.run("BEGIN IMMEDIATE")
                granted()
                try writer.run("ROLLBACK")
            }
        case .refresh:
            try self.site(site).refresh()
            granted()
        }
    }

    public func contents(of query: Query) throws -> [Item] {
        var found: [Item] = []
        try connect().run(query.select(ItemTable.columns)) { found.append(Item($0.item)) }
        return found
    }

    public func fileBytes() throws -> Int {
        try ["", "-wal", "-shm"].reduce(0) { sum, suffix in
            guard FileManager.default.fileExists(atPath: path + suffix) else { return sum }
            return sum + (try FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int ?? 0)
        }
    }

    public func close() { for site in sites.removeAll() { site.end() } }
}
