// What a driven store does with rows whose class is known only when it is opened: queries, commits, a version that is held.
import LiveStore
import StoreDriver

/// The rows of one store. Any thread, but for what takes a connection, which is where that is.
protocol DrivenRows: Sendable {
    /// All classes of the store.
    var models: [StoredObject.Type] { get }
    func makeWriter(_ store: Store) -> any ConnectionWriter
    func subscribe(
        to query: Query, _ connection: Connection, _ configuration: StoreConfiguration, _ sink: any DeliverySink
    ) throws -> any DriverSubscription
    func contents(of query: Query, _ connection: Connection) throws -> [Item]
    func pin(_ store: Store) throws -> AnyObject
}

/// A writer that makes changes in a write of somebody else's, too.
protocol ConnectionWriter: StoreWriter {
    func apply(_ change: Change, _ connection: Connection) throws
}

/// Writers change rows of `Row`; queries find those of `Shown`, which are the same or lead to them over links.
struct RowsOf<Row: DrivenRow, Shown: DrivenRow>: DrivenRows {
    private let company: RowCompany<Row>
    let models: [StoredObject.Type]

    init(_ company: RowCompany<Row> = .none, and others: [StoredObject.Type] = []) {
        self.company = company
        models = [Row.self] + others
    }

    func makeWriter(_ store: Store) -> any ConnectionWriter { LiveStoreWriter<Row>(store, company) }

    func subscribe(
        to query: Query, _ connection: Connection, _ configuration: StoreConfiguration, _ sink: any DeliverySink
    ) throws -> any DriverSubscription {
        let results = try results(query, connection)
        if configuration.readsFirst { _ = results.count }
        if configuration.operators > 0 { return try PublishedSubscription(results, configuration.operators, sink) }
        return try LiveStoreSubscription(results, sink)
    }

    func contents(of query: Query, _ connection: Connection) throws -> [Item] {
        try results(query, connection).map(\.item)
    }

    private func results(_ query: Query, _ connection: Connection) throws -> Results<Shown> {
        Shown.results(query, try connection.objects(Shown.self))
    }

    func pin(_ store: Store) throws -> AnyObject { try HeldVersion<Row>(store) }
}

final class LiveStoreWriter<Row: DrivenRow>: ConnectionWriter {
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
        guard let row = try connection.object(Row.self, forPrimaryKey: Row.primaryKey(change.item.key)) else {
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

/// Keeps a version of the store alive as a frozen object does.
final class HeldVersion<Row: DrivenRow> {
    private let frozen: Frozen<Row>

    init(_ store: Store) throws {
        let frozen = try store.read { connection in
            let first = try connection.object(Row.self, forPrimaryKey: Row.primaryKey(0))
            return try (first ?? connection.objects(Row.self).first)?.freeze()
        }
        guard let frozen else { throw DriverUnavailable("a version can be held by a row alone, and there is none") }
        self.frozen = frozen
    }
}
