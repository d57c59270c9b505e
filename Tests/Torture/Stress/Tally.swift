// What a run counts. Atomics, added to from any thread.

struct Tally: Sendable {
    /// Commits of this process, by the kind of writer; those of others are in the ledger.
    let localCommits = Counter()
    let connectionCommits = Counter()
    let callbackCommits = Counter()
    let silentCommits = Counter()
    let rolledBack = Counter()
    let timedOut = Counter()

    /// By kind of place.
    let callbacks = PlaceKind.allCases.map { _ in Counter() }
    let initials = Counter()
    let updates = Counter()
    /// Versions that updates went forward, in all and at most.
    let versionsTold = Counter()
    let mostVersionsTold = Counter()
    let changesTold = Counter()
    let slowCallbacks = Counter()
    let ledgerCallbacks = Counter()
    let storeCallbacks = Counter()
    let objectCallbacks = Counter()

    /// Forked children that came to a lock which another thread had at the fork.
    let forksStoodStill = Counter()
    /// What damaged neighbours have refused.
    let neighboursErrors = Counter()

    let kills = Counter()
    let strictKills = Counter()
    let slowestRecoveryUs = Counter()

    let tokensMade = Counter()
    let tokensEndedOnPlace = Counter()
    let tokensEndedInCallback = Counter()
    let tokensEndedElsewhere = Counter()
    let tokensDropped = Counter()
    let connectionsOpened = Counter()
    let storesOpened = Counter()
    /// Tokens that silent commits have named, and skips that views have crossed.
    let skips = Counter()
    let skipsCrossed = Counter()
    let refreshes = Counter()

    let fileBytes = Counter()
    /// Descriptors open at the end beyond those at the beginning.
    let filesLeft = Counter()
    /// What a commit adds to the heap, where that could be said.
    let heapBytesPerCommit = Counter()
    /// The most commits that anybody has kept a version for on purpose, at most.
    let heldCommits = Counter()
    let pinnedCommits = Counter()

    /// Told or done, and checked, by feature.
    private let features = Feature.allCases.map { _ in Counter() }

    func count(_ feature: Feature) { features[feature.rawValue].add() }

    /// Some are counted elsewhere too.
    func value(of feature: Feature) -> Int {
        switch feature {
        case .localCommits: localCommits.value
        case .connectionCommits: connectionCommits.value
        case .callbackCommits: callbackCommits.value
        case .silentCommits: silentCommits.value
        case .rolledBack: rolledBack.value
        case .timedOut: timedOut.value
        case .objects: objectCallbacks.value
        case .stores: storeCallbacks.value
        case .skipsCrossed: skipsCrossed.value
        case .slowCallbacks: slowCallbacks.value
        case .refreshes: refreshes.value
        case .endedInCallback: tokensEndedInCallback.value
        case .endedElsewhere: tokensEndedElsewhere.value
        case .dropped: tokensDropped.value
        case .kills: kills.value
        case .strictKills: strictKills.value
        case .mainRunLoop: callbacks[PlaceKind.main.ordinal].value
        case .mainQueue: callbacks[PlaceKind.mainQueue.ordinal].value
        case .runLoopThread: callbacks[PlaceKind.thread.ordinal].value
        case .serialQueue: callbacks[PlaceKind.queue.ordinal].value
        case .customScheduler: callbacks[PlaceKind.hopping.ordinal].value
        case .actor: callbacks[PlaceKind.actor.ordinal].value
        case .executor: callbacks[PlaceKind.executor.ordinal].value
        default: features[feature.rawValue].value
        }
    }

    var callbackCount: Int { callbacks.reduce(0) { $0 + $1.value } }
    var commitCount: Int {
        localCommits.value + connectionCommits.value + callbackCommits.value + value(of: .asyncCommits)
    }
}
