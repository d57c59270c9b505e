// What a driven store does with rows whose class is known only when it is opened: queries, commits, a version that is held.
import StillingWell
import TidegaugeDriver

/// The rows of one store. Any thread, but for what takes a connection, which is where that is.
protocol DrivenRows: Sendable {
    /// All classes of the store.
    var models: [StoredObject.Type] { get }
    func apply(_ change: Change, _ connection: Connection) throws
    func subscribe(
        to query: Query, _ connection: Connection, _ configuration: StoreConfiguration, _ sink: any DeliverySink
    ) throws -> any AnsweringSubscription
    func contents(of query: Query, _ connection: Connection) throws -> [Item]
    /// Holds the newest version until nothing has the result any more, which asks the store as it is there.
    func pin(_ store: Store) throws -> FrozenRead
    /// Objects per transaction while rows are loaded.
    var loadBatch: Int { get }
    func forEachRow(of query: Query, _ connection: Connection, _ body: (WholeRow) -> Void) throws
}

/// Writers change rows of `Row`; queries find those of `Shown`, which are the same or lead to them over links.
struct RowsOf<Row: DrivenRow, Shown: DrivenRow>: DrivenRows {
    private let hooks: RowHooks<Row>
    let models: [StoredObject.Type]

    init(_ hooks: RowHooks<Row> = .none, and others: [StoredObject.Type] = []) {
        self.hooks = hooks
        models = [Row.self] + others
    }

    func apply(_ change: Change, _ connection: Connection) throws {
        try Row.apply(change, connection) { row in
            switch change.operation {
            case .insert: try hooks.added(row, connection)
            case .moveToFront: try hooks.movedToFront(row, connection)
            case .updateScore, .touch, .delete: break
            }
        }
    }

    func subscribe(
        to query: Query, _ connection: Connection, _ configuration: StoreConfiguration, _ sink: any DeliverySink
    ) throws -> any AnsweringSubscription {
        let results = try results(query, connection)
        if configuration.readsFirst { _ = results.count }
        return try results.subscribe(sink, to: query, operators: configuration.operators)
    }

    func contents(of query: Query, _ connection: Connection) throws -> [Item] {
        try results(query, connection).map(\.item)
    }

    func results(_ query: Query, _ connection: Connection) throws -> Results<Shown> {
        Shown.results(query, try connection.objects(Shown.self))
    }

    func pin(_ store: Store) throws -> FrozenRead {
        let frozen = try store.read { connection in
            let first = try connection.object(Row.self, forPrimaryKey: Row.primaryKey(0))
            return try (first ?? connection.objects(Row.self).first)?.freeze()
        }
        guard let frozen else { throw DriverUnavailable("a version can be held by a row alone, and there is none") }
        return FrozenRead(version: frozen.version) { try frozen.read($0) }
    }

    /// Few enough for the log to list, enough to cost nothing.
    var loadBatch: Int { 50_000 }

    /// They hold numbers alone.
    func forEachRow(of query: Query, _ connection: Connection, _ body: (WholeRow) -> Void) throws {
        for item in try contents(of: query, connection) { body(RowShape.plain.whole(item)) }
    }
}

/// A version that a frozen object keeps alive.
struct FrozenRead: Sendable {
    let version: UInt64
    let read: @Sendable ((Connection) throws -> [Item]) throws -> [Item]
}
