// Features that a run has to exercise, and that it counts. A run that did enough work fails if a feature has the count
// 0.

enum Feature: Int, CaseIterable, Sendable {
    case mainRunLoop, runLoopThread, serialQueue, customScheduler, actor, executor, mainQueue
    case localCommits, foreignCommits, connectionCommits, callbackCommits, silentCommits, asyncCommits
    case rolledBack, refusedNesting, refusedChanges, timedOut
    case textQueries, limitedQueries, distinctQueries, sections
    case lists, listsOfValues, boards, linkQueries, linkingObjects, deepChanges
    case keyPathObservers, shallowObservers, linkPathObservers
    case objects, stores, asyncRows, asyncObjects, asyncStores, asyncOfStore
    case frozenResults, skipsCrossed, slowCallbacks
    case refreshes, refreshRequired, refreshesWhilePaused
    case endedInCallback, endedElsewhere, dropped, loopsCancelled, reopened
    case heldForLong, forks, neighbours
    case kills, strictKills

    var text: String {
        switch self {
        case .mainRunLoop: "on the main run loop"
        case .runLoopThread: "on run-loop threads"
        case .serialQueue: "on serial queues"
        case .customScheduler: "on custom schedulers"
        case .actor: "on actors"
        case .executor: "on executors"
        case .mainQueue: "on the main queue"
        case .localCommits: "local commits"
        case .foreignCommits: "foreign commits"
        case .connectionCommits: "commits on connections"
        case .callbackCommits: "commits in callbacks"
        case .silentCommits: "suppressing commits"
        case .asyncCommits: "asynchronous commits"
        case .rolledBack: "rolled back"
        case .refusedNesting: "writes in writes refused"
        case .refusedChanges: "changes of deleted elements refused"
        case .timedOut: "timed out"
        case .textQueries: "text queries"
        case .limitedQueries: "limited"
        case .distinctQueries: "distinct"
        case .sections: "sectioned"
        case .lists: "lists of objects"
        case .listsOfValues: "lists of values"
        case .boards: "rows with links"
        case .linkQueries: "filters over links"
        case .linkingObjects: "linking objects"
        case .deepChanges: "deep changes"
        case .keyPathObservers: "of some columns"
        case .shallowObservers: "shallow"
        case .linkPathObservers: "of a path over a link"
        case .objects: "objects"
        case .stores: "stores"
        case .asyncRows: "rows in loops"
        case .asyncObjects: "objects in loops"
        case .asyncStores: "stores in loops"
        case .asyncOfStore: "loops without a connection"
        case .frozenResults: "frozen results read"
        case .skipsCrossed: "skips crossed"
        case .slowCallbacks: "slow callbacks"
        case .refreshes: "refreshes"
        case .refreshRequired: "refresh required"
        case .refreshesWhilePaused: "refreshes with autorefresh off"
        case .endedInCallback: "tokens ended in callbacks"
        case .endedElsewhere: "tokens ended on other threads"
        case .dropped: "tokens dropped"
        case .loopsCancelled: "loops cancelled"
        case .reopened: "connections reopened"
        case .heldForLong: "versions held for long"
        case .forks: "forked children"
        case .neighbours: "damaged neighbours"
        case .kills: "processes killed"
        case .strictKills: "killed while other writers were paused"
        }
    }

    /// Work after which the feature must have occurred. Not a time, because a busy machine does less per minute.
    var expectedFrom: Work {
        switch self {
        // About half of the kills happen while all other writers are paused.
        case .kills: .kills(1)
        case .strictKills: .kills(8)
        // Observers of linking objects are called seldom.
        case .linkingObjects: .callbacks(30_000)
        case .forks where !Forker.isPossible: .callbacks(.max)
        default: .callbacks(10_000)
        }
    }

    /// An amount of work.
    enum Work: Sendable {
        /// Callbacks of observers, summed over all threads, queues and actors.
        case callbacks(Int)
        /// Foreign processes that were killed.
        case kills(Int)
    }
}
