// Operations of a driven store on rows whose class is known only when it is opened: queries, commits, held versions.
import StillingWell
import TidegaugeDriver

/// The rows of one store. Any thread, except that a method with a connection runs where the connection may be used.
protocol DrivenRows: Sendable {
    /// All classes of the store.
    var models: [StoredObject.Type] { get }
    func apply(_ change: Change, _ connection: Connection) throws
    func subscribe(
        to query: Query, _ connection: Connection, _ configuration: StoreConfiguration, _ sink: any DeliverySink
    ) throws -> any AnsweringSubscription
    func contents(of query: Query, _ connection: Connection) throws -> [Item]
    /// Holds the newest version as long as the result exists. The result reads the store at that version.
    func pin(_ store: Store) throws -> FrozenRead
    /// Maximum number of rows per transaction while rows are loaded.
    var loadBatch: Int { get }
    func forEachRow(of query: Query, _ connection: Connection, _ body: (WholeRow) -> Void) throws
}

/// Writers change rows of `Row`. Queries find rows of `Shown`, which is the same class or links to it.
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
        return try results.subscribe(sink, to: query, operators: configuration.publisherChainLength)
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

    var loadBatch: Int { 50_000 }

    /// Plain rows contain only numbers.
    func forEachRow(of query: Query, _ connection: Connection, _ body: (WholeRow) -> Void) throws {
        for item in try contents(of: query, connection) { body(RowShape.plain.whole(item)) }
    }
}

/// A version that a frozen object keeps alive.
struct FrozenRead: Sendable {
    let version: UInt64
    let read: @Sendable ((Connection) throws -> [Item]) throws -> [Item]
}
