// A store that delivers as RBQFetchedResultsController did (`LegacyDelivery`), on StillingWell and its change logger: the one
// flawed store that keeps rows.
import TidegaugeDriver
import TidegaugeFetchedResultsDriver

/// Opens stores that deadlock where threads commit by turns.
public struct LegacyDriver: StoreDriver {
    public let name = "fetched-results-legacy"

    public init() {}

    public var facts: EngineFacts {
        var facts = FetchedResultsDriver().facts
        facts.readsBesideWriter = false
        facts.remarks = ["deadlocks on purpose where threads commit by turns"]
        return facts
    }

    public func open(_ configuration: StoreConfiguration) throws -> ControlledStore {
        try ControlledStore(configuration) { try LegacyDelivery($0, $1, $2, $3) }
    }
}
