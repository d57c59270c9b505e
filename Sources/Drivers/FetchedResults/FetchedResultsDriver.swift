// Fetched-results controllers seen from the harness: one store, one connection per site, one controller per subscription,
// and a change logger that notes every commit; as the controller delivers today, and as the one that it replaces did.
import FetchedResults
import LiveStore
import StoreDriver
import TracedSync

public struct FetchedResultsDriver: StoreDriver {
    /// How controllers hear of commits.
    public enum Delivery: Sendable {
        case live
        /// Synchronously, on the committing thread, waiting for the delegate: what deadlocks.
        case legacy
    }

    private let delivery: Delivery

    public init(_ delivery: Delivery) { self.delivery = delivery }

    public var name: String { delivery == .live ? "fetched-results" : "fetched-results-legacy" }

    public var facts: EngineFacts {
        EngineFacts(durabilities: [.full, .relaxed, .memory], persists: true, hasChangeSets: true) {
            // A controller shows at once what it is told later, so each has its own pace.
            $0.advancesTogether = false
            $0.readsBesideWriter = delivery == .live
            if delivery == .legacy { $0.remarks = ["deadlocks on purpose where threads commit by turns"] }
            $0.upkeepThreadPrefixes = ["livestore"]
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> ControlledStore {
        let durability: LiveStore.Durability =
            switch configuration.durability {
            case .full: .full
            case .relaxed: .relaxed
            case .memory: .memory
            }
        let store = try Store(.init(path: configuration.directory, models: [ShownRow.self], durability: durability))
        return ControlledStore(store, delivery)
    }
}

/// The row that scenarios write and watch.
final class ShownRow: StoredObject {
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

    var item: Item { Item(key: Int64(key), group: Int64(group), score: Int64(score), stamp: Int64(stamp)) }
}
