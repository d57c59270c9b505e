// What a run has to exercise. Each is counted where it has been checked, so one that is never reached shows as 0, and a run
// that was long enough for it fails.

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
        case .silentCommits: "silent commits"
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
        case .strictKills: "killed in silence"
        }
    }

    /// What a run has to do before it must have come to it. Work, not time: a busy machine does less in a minute.
    var expectedFrom: Work {
        switch self {
        // Every second kill is one in silence.
        case .kills: .kills(1)
        case .strictKills: .kills(8)
        // Few of those that link to a row see it change before somebody ends them.
        case .linkingObjects: .callbacks(30_000)
        default: .callbacks(10_000)
        }
    }

    /// An amount of work.
    enum Work: Sendable {
        /// Of rows, on all places.
        case callbacks(Int)
        /// Processes killed and started again.
        case kills(Int)
    }
}
