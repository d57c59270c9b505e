// Fetched-results controllers seen from the harness: one store, one connection per site, one controller per subscription,
// and a change logger that notes every commit.
import FetchedResults
import LiveStore
import StoreDriver

public struct FetchedResultsDriver: StoreDriver {
    public let name = "fetched-results"

    public init() {}

    public var facts: EngineFacts {
        EngineFacts(durabilities: [.full, .relaxed, .memory], persists: true, hasChangeSets: true) {
            // A controller shows at once what it is told later, so each has its own pace.
            $0.advancesTogether = false
            $0.upkeepThreadPrefixes = ["livestore"]
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> ControlledStore {
        try ControlledStore(configuration) { connection, query, _, sink in
            let request = FetchRequest(ShownRow.self) { ShownRow.results(query, $0) }
            return try ControlledSubscription(FetchedResultsController(connection, request), sink)
        }
    }
}

/// The row that scenarios write and watch.
package final class ShownRow: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored var group = 0
    @Stored var score = 0
    @Stored var stamp = 0

    convenience init(_ item: Item) {
        self.init()
        key = Int(item.key)
        group = Int(item.group)
        score = Int(item.score)
        stamp = Int(item.stamp)
    }

    package var item: Item { Item(key: Int64(key), group: Int64(group), score: Int64(score), stamp: Int64(stamp)) }

    package static func results(_ query: Query, _ all: Results<ShownRow>) -> Results<ShownRow> {
        var results = all
        if let group = query.group { results = results.where(\.group == Int(group)) }
        if let scores = query.scores {
            results = results.where(\.score >= Int(scores.lowerBound) && \.score < Int(scores.upperBound))
        }
        if let keys = query.keys {
            results = results.where(\.key >= Int(keys.lowerBound) && \.key < Int(keys.upperBound))
        }
        return switch query.order {
        case .none, .list: results
        case .scoreAscending: results.sorted(by: \.score)
        case .scoreDescending: results.sorted(by: \.score, ascending: false)
        }
    }
}
