// One `ValueObservation` and its current value. GRDB delivers whole values, here the ordered keys of the result.
// Applications observe keys if they fetch each row when it is displayed.
import Dispatch
import GRDB
import StillingWellSync
import TidegaugeDriver

/// The value of an observation: keys and version, read in one transaction.
struct Found: Sendable {
    var version: Int64
    var keys: [Int64]

    init(_ query: Query, _ db: Database) throws {
        keys = try Int64.fetchAll(db.cachedStatement(sql: query.select("key")))
        version = try Int64.fetchOne(db.cachedStatement(sql: ItemTable.version))!
    }
}

final class GRDBSubscription: WholeRowSubscription, AnsweringSubscription {
    private let database: any DatabaseWriter
    private let table: ShapedTable
    private let query: Query
    private let sink: CancellableSink
    private let ended: @Sendable (GRDBSubscription) -> Void
    /// Guarded, because any thread may cancel.
    private let observation = Guarded<AnyDatabaseCancellable?>("grdb subscription", nil)
    private let shown = DeliveryBound<Found?>(nil)
    private let statements: DeliveryBound<QuestionStatements>

    /// - Parameter ended: called after cancellation.
    init(
        _ database: any DatabaseWriter, _ table: ShapedTable, _ query: Query, _ sink: CancellableSink,
        ended: @escaping @Sendable (GRDBSubscription) -> Void
    ) {
        (self.database, self.table, self.query, self.sink, self.ended) = (database, table, query, sink, ended)
        statements = DeliveryBound(QuestionStatements(query))
    }

    func start(
        _ observation: ValueObservation<ValueReducers.Fetch<Found>>, _ scheduler: some ValueObservationScheduler
    ) {
        let started = observation.start(
            in: database, scheduling: scheduler, onError: { [sink] error in sink.fail(error) },
            onChange: { [weak self] found in self?.show(found) })
        self.observation.withLock { $0 = started }
        if sink.isCancelled { cancel() }
    }

    private func show(_ found: Found) {
        let isInitial = shown.value == nil
        shown.value = found
        sink.deliver(Delivery(version: found.version, isInitial: isInitial, count: found.keys.count))
    }

    func cancel() {
        sink.cancel()
        let ending = observation.withLock { $0.take() }
        ending?.cancel()
        ended(self)
    }

    func currentItems() throws -> [Item] {
        guard let shown = shown.value else { return [] }
        return try database.read { db in
            let row = try db.cachedStatement(sql: ItemTable.find)
            return try shown.keys.compactMap { key in try Row.fetchOne(row, arguments: [key]).map(Item.init) }
        }
    }

    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) {
        forEachShown(indices, of: shown.value?.keys ?? [], body)
    }

    /// Reads the version in the same transaction. It is at least as new as the callback's.
    func answer(_ question: ReadQuestion) throws -> ReadAnswer {
        let (sql, values) = statements.value.statement(question)
        return try database.read { db in
            var fold = AnswerFold(question, query)
            let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: StatementArguments(values))
            while let row = try rows.next() { fold.add { row[$0] } }
            return ReadAnswer(fold.value, at: try Int64.fetchOne(db.cachedStatement(sql: ItemTable.version)) ?? 0)
        }
    }

    func forEachShownRow(_ indices: Range<Int>, _ body: (WholeRow) -> Void) throws {
        guard let shown = shown.value else { return }
        try database.read { db in
            let row = try db.cachedStatement(sql: table.find)
            for key in shown.keys[indices.clamped(to: 0..<shown.keys.count)] {
                if let found = try Row.fetchOne(row, arguments: [key]) { body(WholeRow(found)) }
            }
        }
    }
}

extension Item {
    init(_ row: Row) { self.init(key: row[0], group: row[1], score: row[2], stamp: row[3]) }
}

extension WholeRow {
    /// Makes a row from `ShapedTable.columns`.
    init(_ row: Row) { self.init(Item(row), text: row[4], payload: row[5], counterpartStamp: row[6]) }
}

/// GRDB delivers on dispatch queues, which run loops other than the main thread's do not serve. This scheduler
/// delivers on a run loop, in order.
///
/// Schedules on the run loop of the thread that made it. May be called on any thread.
struct RunLoopObservationScheduler: ValueObservationScheduler {
    let loop = RunLoopHandOff("grdb delivery")

    func immediateInitialValue() -> Bool { false }
    func schedule(_ action: @escaping @Sendable () -> Void) { loop.perform(action) }
}
