// What every observer has, whatever it observes: a token that any thread may end, and the checks of I4 and I5 at the
// start of each callback.
//
// Used on its site's place, except ending and lending it: `lock` guards `token` and `lentCount`; `isOver` is raised
// after `invalidate` (or the last release) has returned.
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
    /// Where the connection stood then.
    final let madeAt: UInt64
    final private(set) var callCount = 0
    private var callsWhileEnding = 0
    /// A turn of the place has begun after the token had ended: whatever was running then is over.
    private var isSealed = false

    private let lock = TracedMutex("observer token")
    private var token: NotificationToken?
    /// Writes that name the token right now.
    private var lentCount = 0
    private let isOver = Atomic<Bool>(false)

    init(_ name: String, _ site: Site) {
        self.name = name
        self.site = site
        load = site.load
        madeAt = site.connection?.version ?? 0
    }

    /// For reports.
    var description: String { "\(site.name), \(name)" }
    /// Whether it has been told what it must be told without any change.
    var hasBegun: Bool { true }
    /// I6: with all writers at rest and the connection at the last version.
    func checkAtRest(_ connection: Connection) {}

    /// Takes the token of what was just subscribed. On the place.
    final func keep(_ made: NotificationToken) {
        lock.withLock { token = made }
        load.tally.tokensMade.add()
    }

    // MARK: Ending

    final var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// Whether nobody has begun to end it: from there on it may be called no more.
    final var isObserving: Bool { lock.withLock { token != nil } }

    /// Ends the subscription, once. Any thread.
    /// - Returns: whether this call did it.
    final func end(_ how: Ending) -> Bool {
        var isLent = false
        var taken = lock.withLock {
            let taken = token
            token = nil
            isLent = lentCount > 0
            return taken
        }
        guard taken != nil else { return false }
        // One that is lent would live on until it is given back.
        if how == .invalidate || isLent { taken?.invalidate() }
        taken = nil
        isOver.store(true, ordering: .releasing)
        if site.place.isHere { isSealed = true } else { site.place.perform { [self] in isSealed = true } }
        return true
    }

    /// The token, for a write that is not to be told to it; nil once it has ended. Any thread.
    final func lend() -> NotificationToken? {
        lock.withLock {
            if token != nil { lentCount += 1 }
            return token
        }
    }

    final func giveBack() { lock.withLock { lentCount -= 1 } }

    // MARK: Being called

    /// Runs a callback, unless it is one that was about to run when its token ended.
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

    /// I4. One callback may have begun before its token ended on another thread.
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

    /// I3, for whatever is no initial callback.
    final func expectLaterVersion(_ connection: Connection) {
        let version = connection.version
        load.verdict.expect(.i3, version > lastVersion, description, "version \(version) after \(lastVersion)")
    }
}
