// Publishes a controller's changes. A target of its own, so that neither controllers require OpenCombine nor publishers
// require controllers.
import FetchedResults
import StillingWell
import StillingWellCombine

/// An event of a controller's content.
public enum FetchedResultsChange<Object: StoredObject> {
    /// The initial content.
    case initial(FetchedResultsController<Object>)
    /// The sections and rows changed since the last value.
    case update(FetchedResultsController<Object>, SectionedChangeSet)
}

extension FetchedResultsController {
    /// Returns a publisher of the rows of the last fetched request: `.initial`, then change sets, independent of the
    /// delegate. Another `performFetch` does not change what is published. It has a subscription of its own, whose
    /// token `handleToken` gives. On the connection's scheduler.
    /// - Throws: `notFetched`.
    public func changePublisher() throws -> LivePublisher<FetchedResultsChange<Object>> {
        // Taken now, so that a fetch before the subscription does not change what is published.
        let feeds = try feeds { [self] changes in
            changes.map { FetchedResultsChange.update(self, $0) } ?? .initial(self)
        }
        return LivePublisher(feeds)
    }
}
