// The part that all observers share: a token that any thread may end, and the checks of I4 and I5 at the start of
// each callback.
//
// `lock` guards `token` and `lentCount`. `isOver` is set after `invalidate` or the last release has returned. All other
// state is used on the site's delivery context only.
import StillingWell
import StillingWellSync
import Synchronization

class Observer: @unchecked Sendable {
    enum Ending {
        case invalidate, drop
    }

    let name: String
    unowned let site: Site
    final let load: Load
    final var lastVersion: UInt64 = 0
    /// Version of the connection when the observer was made.
    final let madeAt: UInt64
    final private(set) var callCount = 0
    private var callsWhileEnding = 0
    /// Whether the token ended on the delivery context, or that context has begun a block since. No callback may begin
    /// then.
    private var isSealed = false

    private let lock = TracedMutex("observer token")
    private var token: NotificationToken?
    /// Number of running writes that name the token.
    private var lentCount = 0
    private let isOver = Atomic<Bool>(false)

    init(_ name: String, _ site: Site) {
        self.name = name
        self.site = site
        load = site.load
        madeAt = site.connection?.version ?? 0
    }

    /// Text for reports.
    var description: String { "\(site.name), \(name)" }
    /// Whether the initial callback has come, if there is one.
    var hasBegun: Bool { true }
    /// Checks I6. All writers must be at rest, and the connection at the last version.
    func checkAtRest(_ connection: Connection) {}

    /// Stores the token of the new subscription. Must be called on the site's delivery context.
    final func keep(_ made: NotificationToken) {
        lock.withLock { token = made }
        load.tally.tokensMade.add()
    }

    // MARK: Ending

    final var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// Whether no thread has begun to end the observer.
    final var isObserving: Bool { lock.withLock { token != nil } }

    /// Ends the subscription, at most once. May be called on any thread.
    /// - Returns: whether this call ended it.
    final func end(_ how: Ending) -> Bool {
        var isLent = false
        var taken = lock.withLock {
            let taken = token
            token = nil
            isLent = lentCount > 0
            return taken
        }
        guard taken != nil else { return false }
        // Releasing a lent token would not end it before it is given back.
        if how == .invalidate || isLent { taken?.invalidate() }
        taken = nil
        isOver.store(true, ordering: .releasing)
        if site.place.isHere { isSealed = true } else { site.place.perform { [self] in isSealed = true } }
        return true
    }

    /// Returns the token for a write that skips the observer, or nil if it has ended. Any thread may call it.
    final func lend() -> NotificationToken? {
        lock.withLock {
            if token != nil { lentCount += 1 }
            return token
        }
    }

    final func giveBack() { lock.withLock { lentCount -= 1 } }

    // MARK: Being called

    /// Runs a callback, unless its token has ended meanwhile.
    final func called(_ body: (Connection) -> Void) {
        site.enter(self)
        defer { site.leave() }
        guard let connection = site.connection, isExpected() else { return }
        callCount += 1
        load.tally.callbacks[site.plan.place.ordinal].add()
        site.noteStanding()
        if !(self is StoreObserver) { site.expectStoreTold(connection) }
        body(connection)
        lastVersion = connection.version
        site.calledBack(self, connection)
    }

    /// Checks I4. At most one callback may begin while another thread ends its token.
    private func isExpected() -> Bool {
        let isEnding = hasEnded
        if isEnding { callsWhileEnding += 1 }
        load.verdict.expect(
            .i4, !isSealed && callsWhileEnding <= 1, description,
            isSealed
                ? "called after invalidate() had returned and its connection had had a further turn"
                : "called \(callsWhileEnding) times after invalidate() had returned")
        return !isEnding
    }

    /// Checks I3. Must not be called for an initial callback.
    final func expectLaterVersion(_ connection: Connection) {
        let version = connection.version
        load.verdict.expect(.i3, version > lastVersion, description, "version \(version) after \(lastVersion)")
    }
}
