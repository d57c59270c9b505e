// A controller's changes as a publisher. Apart from both, so that neither who has controllers carries OpenCombine nor who
// has publishers carries controllers.
import FetchedResults
import StillingWell
import StillingWellCombine

/// What happened to what a controller shows.
public enum FetchedResultsChange<Object: StoredObject> {
    /// What there is at first.
    case initial(FetchedResultsController<Object>)
    /// The sections and rows changed since the last value.
    case update(FetchedResultsController<Object>, SectionedChangeSet)
}

extension FetchedResultsController {
    /// What happens to the rows of the request that was fetched last: `.initial`, then change sets, independent of the
    /// delegate. Another `performFetch` does not change what is published. It begins with a subscription of its own, whose
    /// token `handleToken` gives. On the connection's scheduler.
    /// - Throws: `notFetched`.
    public func changePublisher() throws -> LivePublisher<FetchedResultsChange<Object>> {
        // What is published is of this fetch, whatever is fetched before somebody subscribes.
        let feeds = try feeds { [self] changes in
            changes.map { FetchedResultsChange.update(self, $0) } ?? .initial(self)
        }
        return LivePublisher(feeds)
    }
}
