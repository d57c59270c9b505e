// Counters of a run. They are atomic, and any thread may add to them.

struct Tally: Sendable {
    /// Callbacks by kind of delivery context.
    let callbacks = PlaceKind.allCases.map { _ in Counter() }
    let initials = Counter()
    let updates = Counter()
    /// Versions that updates advanced: the sum, and the largest step.
    let versionsTold = Counter()
    let mostVersionsTold = Counter()
    let changesTold = Counter()
    let ledgerCallbacks = Counter()

    /// Forked children that were killed because they seemed blocked, or took too long.
    let forksStoodStill = Counter()
    /// Errors that damaged neighbours have thrown.
    let neighboursErrors = Counter()

    let slowestRecoveryUs = Counter()

    let tokensMade = Counter()
    let tokensEndedOnPlace = Counter()
    let connectionsOpened = Counter()
    let storesOpened = Counter()
    /// Tokens that writes with suppressed notifications have named.
    let skips = Counter()

    let fileBytes = Counter()
    /// Descriptors that were opened since the start and are still open at the end.
    let filesLeft = Counter()
    /// Bytes that a commit adds to the heap. 0 if the run was too short, or the heap did not grow.
    let heapBytesPerCommit = Counter()
    /// Maximum number of commits for which a version was kept on purpose.
    let heldCommits = Counter()
    let pinnedCommits = Counter()

    /// Number of occurrences by feature.
    private let features = Feature.allCases.map { _ in Counter() }

    func count(_ feature: Feature) { features[feature.rawValue].add() }

    /// Returns the count of a feature. Features of delivery contexts are counted as callbacks.
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
