// One open database: the rows, and one row with the version. Every commit writes a higher version, and every
// observation reads it in the transaction of its fetch, so the version of a delivery is exact.
import Foundation
import GRDB
import StillingWellSync
import Synchronization
import TidegaugeDriver

public final class DrivenDatabase: CallableOnSite, WholeRowStore, AnsweringStore {
    private let database: any DatabaseWriter
    /// Folder of the files; nil in memory.
    private let directory: String?
    private let table: ShapedTable
    /// Raised inside `write`, which GRDB runs one at a time.
    private let version = Atomic<Int64>(0)
    private let schedulers = SiteMap<RunLoopObservationScheduler>("grdb schedulers")
    /// Subscriptions that are not cancelled.
    private let subscriptions = Guarded<[ObjectIdentifier: GRDBSubscription]>("grdb driver", [:])

    init(_ database: any DatabaseWriter, directory: String?, _ table: ShapedTable) throws {
        (self.database, self.directory, self.table) = (database, directory, table)
        try database.write { [table] db in try db.execute(sql: table.schema) }
    }

    // MARK: Writing

    public func load(count: Int, item: (Int) -> Item) throws {
        try database.write { db in
            for index in 0..<count {
                let change = Change(.insert, item(index))
                try table.shape.isPlain ? apply(change, db) : Self.apply(change, table, db)
            }
            try advance(db)
        }
    }

    public func makeWriter() -> any StoreWriter {
        if !table.shape.isPlain { return makeWriterOfWholeRows() }
        return CommittingWriter { [self] changes, locked in
            // `write` begins IMMEDIATE, so its body holds the lock. Nested writes would trap; there are none.
            try database.write { db in
                locked()
                for change in changes { try apply(change, db) }
                return try advance(db)
            }
        }
    }

    private func makeWriterOfWholeRows() -> any StoreWriter {
        CommittingWriter { [self] changes, locked in
            try database.write { db in
                locked()
                for change in changes { try Self.apply(change, table, db) }
                return try advance(db)
            }
        }
    }

    @discardableResult
    private func advance(_ db: Database) throws -> Int64 {
        // A rollback does not revert it: versions only need to increase.
        let version = version.add(1, ordering: .relaxed).newValue
        try db.cachedStatement(sql: ItemTable.setVersion).execute(arguments: [version])
        return version
    }

    private func apply(_ change: Change, _ db: Database) throws {
        let (sql, values) = table.statement(change)
        try db.cachedStatement(sql: sql).execute(arguments: StatementArguments(values))
        if db.changesCount == 0 { throw MissingItem(key: change.item.key) }
    }

    private static func apply(_ change: Change, _ table: ShapedTable, _ db: Database) throws {
        for (sql, values) in table.statements(change) {
            let bound = values.map { value -> any DatabaseValueConvertible in
                switch value {
                case .integer(let number): number
                case .text(let text): text
                case .bytes(let data): data
                }
            }
            try db.cachedStatement(sql: sql).execute(arguments: StatementArguments(bound))
            if db.changesCount == 0 { throw MissingItem(key: change.item.key) }
        }
    }

    // MARK: Observing

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) -> any DriverSubscription {
        let subscription = GRDBSubscription(database, table, query, CancellableSink(sink)) { [weak self] in
            self?.forget($0)
        }
        subscriptions.withLock { $0[ObjectIdentifier(subscription)] = subscription }
        // The region is named, because one recorded from the fetch would also contain the version row. It contains
        // all columns, because observers may show whole rows.
        let observation = ValueObservation.tracking(region: Table("item")) { db in try Found(query, db) }
        switch site {
        case .queue(let queue): subscription.start(observation, .async(onQueue: queue))
        case .runLoop: subscription.start(observation, schedulers.value(at: site) { RunLoopObservationScheduler() })
        }
        return subscription
    }

    private func forget(_ subscription: GRDBSubscription) {
        let forgotten = subscriptions.withLock { $0.removeValue(forKey: ObjectIdentifier(subscription)) }
        withExtendedLifetime(forgotten) {}
    }

    /// A `ValueObservation` has no snapshot to advance, so `.refresh` is a read.
    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        switch call {
        case .beginWrite:
            try database.writeWithoutTransaction { db in
                try db.beginTransaction(.immediate)
                granted()
                try db.rollback()
            }
        case .refresh:
            _ = try database.read { db in try Int64.fetchOne(db, sql: ItemTable.version) }
            granted()
        }
    }

    // MARK: Reading

    public func contents(of query: Query) throws -> [Item] {
        try database.read { db in try Row.fetchAll(db, sql: query.select(ItemTable.columns)).map(Item.init) }
    }

    public func forEachRow(of query: Query, _ body: (WholeRow) -> Void) throws {
        try database.read { db in
            let rows = try Row.fetchCursor(db, sql: query.select(table.columns))
            while let row = try rows.next() { body(WholeRow(row)) }
        }
    }

    public func fileBytes() throws -> Int {
        guard let directory else { return 0 }
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: directory).reduce(0) { sum, name in
            sum + (try files.attributesOfItem(atPath: "\(directory)/\(name)")[.size] as? Int ?? 0)
        }
    }

    public func close() throws {
        for subscription in subscriptions.replace(with: [:]).values { subscription.cancel() }
        for scheduler in schedulers.removeAll() { scheduler.loop.invalidate() }
        try database.close()
    }
}
