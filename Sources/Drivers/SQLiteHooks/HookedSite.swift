// The state of one delivery context: its pending touched rows, its connection, and its queries.
import StillingWellSync
import TidegaugeDriver

final class HookedSite: Sendable {
    private let connection: DeliveryBound<SQLiteConnection>
    private let table: ShapedTable
    private let observers = SetOnce<PullingSite<HookedSubscription>>()
    private let touched = Guarded("sqlite site", TouchedRows())

    init(_ connection: SQLiteConnection, _ table: ShapedTable, _ site: DeliverySite) {
        self.connection = DeliveryBound(here: connection)
        self.table = table
        observers.set(PullingSite(site, "sqlite delivery") { [weak self] in self?.look($0) })
    }

    func subscribe(to query: Query, _ sink: any DeliverySink) -> HookedSubscription {
        let subscription = HookedSubscription(self, query, sink)
        observers.known?.add(subscription)
        return subscription
    }

    /// Any thread, after the commit.
    func tell(_ rows: TouchedRows) {
        touched.withLock { $0.add(rows) }
        observers.known?.raise()
    }

    /// Any thread.
    func end() { observers.known?.end() }

    /// Fetches all affected queries in one transaction, so that they have one version, then calls their sinks outside.
    private func look(_ all: [HookedSubscription]) {
        let rows = touched.replace(with: TouchedRows())
        do {
            let looked: Looked = try connection.value.read {
                let now = rows.isOverfull ? [:] : try items(rows.keys)
                let concerned = all.filter { $0.isConcerned(by: rows, now) }
                return Looked(version: try version(), keys: try concerned.map { ($0, try keys(of: $0.query)) })
            }
            for (subscription, keys) in looked.keys { subscription.show(keys, looked.version) }
        } catch {
            for subscription in all { subscription.fail(error) }
        }
    }

    private struct Looked {
        var version: Int64
        var keys: [(HookedSubscription, [Int64])]
    }

    /// Reads the latest version, as an application would. There is no snapshot between transactions to advance.
    func refresh() throws { _ = try version() }

    private func version() throws -> Int64 {
        var version: Int64 = 0
        try connection.value.run(ItemTable.version) { version = $0[0] }
        return version
    }

    /// Answers in a transaction that also reads the version.
    func answer(_ question: ReadQuestion, _ query: Query, _ statement: (sql: String, values: [Int64])) throws
        -> ReadAnswer
    {
        try connection.value.read {
            var fold = AnswerFold(question, query)
            try connection.value.run(statement.sql, statement.values) { row in fold.add { row[Int32($0)] } }
            return ReadAnswer(fold.value, at: try version())
        }
    }

    private func keys(of query: Query) throws -> [Int64] {
        var keys: [Int64] = []
        try connection.value.run(query.select("key")) { keys.append($0[0]) }
        return keys
    }

    /// Returns those of the rows that exist.
    func items(_ keys: [Int64]) throws -> [Int64: Item] {
        var items: [Int64: Item] = [:]
        for key in keys {
            try connection.value.run(ItemTable.find, [key]) { items[key] = Item($0) }
        }
        return items
    }

    /// Calls `body` with each row that exists.
    func forEachRow(_ keys: some Sequence<Int64>, _ body: (WholeRow) -> Void) throws {
        for key in keys { try connection.value.run(table.find, [key]) { body(WholeRow($0)) } }
    }
}

final class HookedSubscription: PullingSubscription, WholeRowSubscription, AnsweringSubscription {
    let query: Query
    private let site: HookedSite
    private let sink: CancellableSink
    private let shown = DeliveryBound<[Int64]?>(nil)
    private let statements: DeliveryBound<QuestionStatements>

    init(_ site: HookedSite, _ query: Query, _ sink: any DeliverySink) {
        (self.site, self.query) = (site, query)
        statements = DeliveryBound(QuestionStatements(query))
        self.sink = CancellableSink(sink)
    }

    /// Whether a touched row is in the query now, or was in the keys last shown. True before the first delivery, and if
    /// too many rows were touched to list them.
    func isConcerned(by rows: TouchedRows, _ now: [Int64: Item]) -> Bool {
        guard let shown = shown.value, !rows.isOverfull else { return true }
        return rows.keys.contains { key in
            if let item = now[key], query.matches(key: key, group: item.group, score: item.score) { return true }
            return shown.contains(key)
        }
    }

    func show(_ keys: [Int64], _ version: Int64) {
        let isInitial = shown.value == nil
        shown.value = keys
        sink.deliver(Delivery(version: version, isInitial: isInitial, count: keys.count))
    }

    func fail(_ error: any Error) { sink.fail(error) }

    func cancel() { sink.cancel() }

    var isCancelled: Bool { sink.isCancelled }

    func currentItems() throws -> [Item] {
        guard let shown = shown.value else { return [] }
        let items = try site.items(shown)
        return shown.compactMap { items[$0] }
    }

    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) {
        forEachShown(indices, of: shown.value ?? [], body)
    }

    func answer(_ question: ReadQuestion) throws -> ReadAnswer {
        try site.answer(question, query, statements.value.statement(question))
    }

    func forEachShownRow(_ indices: Range<Int>, _ body: (WholeRow) -> Void) throws {
        guard let shown = shown.value else { return }
        try site.forEachRow(shown[indices.clamped(to: 0..<shown.count)], body)
    }
}

extension Item {
    /// Makes an item from `ItemTable.columns`.
    init(_ row: SQLiteRow) { self.init(key: row[0], group: row[1], score: row[2], stamp: row[3]) }
}

extension WholeRow {
    /// Makes a row from `ShapedTable.columns`.
    init(_ row: SQLiteRow) {
        self.init(Item(row), text: row.text(4), payload: row.data(5), counterpartStamp: row.number(6))
    }
}
