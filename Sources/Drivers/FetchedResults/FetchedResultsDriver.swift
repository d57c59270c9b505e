// Driver of fetched-results controllers: one store, one connection per delivery context, one controller per
// subscription, and a change logger that records the commits of writers.
import FetchedResults
import StillingWell
import TidegaugeDriver
import TidegaugeStillingWellDriver

/// The drivers of this module. `drivers.txt` names them.
public let allDrivers: [any StoreDriver] = [FetchedResultsDriver()]

public struct FetchedResultsDriver: StoreDriver {
    public let name = "fetched-results"

    public init() {}

    public var facts: EngineFacts {
        EngineFacts(durabilities: [.full, .relaxed, .memory], persists: true, hasChangeSets: true) {
            // In a callback, a controller whose delegate has not been told yet may show other rows.
            $0.advancesTogether = false
            $0.upkeepThreadPrefixes = ["well-"]
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> ControlledStore {
        try ControlledStore(configuration) { connection, query, _, sink in
            let request = FetchRequest(ShownRow.self) { ShownRow.results(query, $0) }
            return try ControlledSubscription(FetchedResultsController(connection, request), sink)
        }
    }
}

/// The rows that scenarios write and observe.
package typealias ShownRow = ItemRow
