// A store that delivers like RBQFetchedResultsController (`LegacyDelivery`), on StillingWell and its change logger.
// Unlike the other stores of this target, it keeps rows.
import TidegaugeDriver
import TidegaugeFetchedResultsDriver

/// Opens stores that deadlock if the delegate's thread commits while a commit of another thread is delivered.
public struct LegacyDriver: StoreDriver {
    public let name = "fetched-results-legacy"

    public init() {}

    public var facts: EngineFacts {
        var facts = FetchedResultsDriver().facts
        facts.readsBesideWriter = false
        facts.remarks = ["deadlocks on purpose if two threads commit alternately"]
        return facts
    }

    public func open(_ configuration: StoreConfiguration) throws -> ControlledStore {
        try ControlledStore(configuration) { try LegacyDelivery($0, $1, $2, $3) }
    }
}
