// Operations of a view on its results, without their type.
import StillingWell

enum ViewEvent {
    case initial
    case update(ChangeSet)
    case failed(StoreError)
}

struct ViewFace {
    let ids: () -> [ObjectID]
    let row: (Int) -> RowValue
    let count: () -> Int
    /// Freezes the rows, which any thread may read later.
    let freeze: () throws -> FrozenRows
    /// Observes the results. A list of columns limits the modifications to them.
    let observe: ([Column]?, @escaping (ViewEvent) -> Void) throws -> NotificationToken

    init(_ query: Query, _ connection: Connection) throws {
        switch query.table {
        case .small: self.init(try query.results(SmallRow.self, connection))
        case .large: self.init(try query.results(LargeRow.self, connection))
        }
    }

    private init<Object: StressRow>(_ results: Results<Object>) {
        ids = { results.objectIDs }
        row = { RowValue(results[$0]) }
        count = { results.count }
        freeze = {
            let frozen = try results.freeze()
            return FrozenRows(version: frozen.version) { frozen.map { RowValue($0.object) } }
        }
        observe = { columns, body in
            func told(_ change: ResultsChange<Object>) {
                switch change {
                case .initial: body(.initial)
                case .update(_, let changes): body(.update(changes))
                case .error(let error): body(.failed(error))
                }
            }
            guard let columns else { return try results.observe(told) }
            return try results.observe(keyPaths: columns.map { $0.keyPath(Object.self) }, told)
        }
    }
}

/// All rows of a table in a connection's snapshot, ascending by id.
enum Scan {
    static func rows(_ table: TableSize, _ connection: Connection) throws -> [RowValue] {
        switch table {
        case .small: try rows(SmallRow.self, connection)
        case .large: try rows(LargeRow.self, connection)
        }
    }

    /// Reads through a filter that no observer uses. Observed results would come from upkeep.
    private static func rows<Object: StressRow>(_ type: Object.Type, _ connection: Connection) throws -> [RowValue] {
        try connection.objects(type).where(\Object.key != -1).map { RowValue($0) }
    }
}
