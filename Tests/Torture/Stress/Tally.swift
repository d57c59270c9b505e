// What a run counts. Atomics, added to from any thread.

struct Tally: Sendable {
    /// By kind of place.
    let callbacks = PlaceKind.allCases.map { _ in Counter() }
    let initials = Counter()
    let updates = Counter()
    /// Versions that updates went forward, in all and at most.
    let versionsTold = Counter()
    let mostVersionsTold = Counter()
    let changesTold = Counter()
    let ledgerCallbacks = Counter()

    /// Forked children that came to a lock which another thread had at the fork.
    let forksStoodStill = Counter()
    /// What damaged neighbours have refused.
    let neighboursErrors = Counter()

    let slowestRecoveryUs = Counter()

    let tokensMade = Counter()
    let tokensEndedOnPlace = Counter()
    let connectionsOpened = Counter()
    let storesOpened = Counter()
    /// Tokens that silent commits have named, and skips that views have crossed.
    let skips = Counter()

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
        [Feature.localCommits, .connectionCommits, .callbackCommits, .asyncCommits].reduce(0) { $0 + value(of: $1) }
    }
}
