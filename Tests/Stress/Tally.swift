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
    /// The most commits that a connection has kept its version for.
    let pinnedCommits = Counter()

    var callbackCount: Int { callbacks.reduce(0) { $0 + $1.value } }
    var commitCount: Int { localCommits.value + connectionCommits.value + callbackCommits.value }
}
