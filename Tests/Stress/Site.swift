// One connection at a place, with its views. It opens and closes the connection, makes and ends tokens, and writes, on
// its place; other threads reach it through `place.perform`.
//
// Everything belongs to the place, except `inside` (atomic) and `visibleViews`, which `lock` guards.
import LiveStore
import Synchronization
import TracedSync

final class Site: @unchecked Sendable {
    let number: Int
    let plan: Plan.SitePlan
    let place: any Place
    let load: Load

    private(set) var connection: Connection?
    private var ownStore: Store?
    private var views: [View] = []
    private var random: SeededRandom
    private let commit: Commit
    private var generation = 0
    private var viewsMade = 0
    /// Tables as scanned at `scannedVersion`; views of one delivery share them.
    private var scans: [TableSize: [RowValue]] = [:]
    private var scannedVersion: UInt64 = 0
    /// The version the connection was last seen at.
    private var standing = Int.max

    private let inside = Atomic<Int>(0)
    private let lock = TracedMutex("site views")
    private var visibleViews: [View] = []

    init(_ number: Int, _ plan: Plan.SitePlan, _ place: any Place, _ load: Load) {
        self.number = number
        self.plan = plan
        self.place = place
        self.load = load
        random = load.plan.random("site \(number)")
        commit = Commit(writer: load.plan.siteWriter(number), plan: load.plan)
    }

    var name: String { "\(place.name), connection \(number).\(generation)" }

    // MARK: Opening and closing

    func open() {
        generation += 1
        load.tally.connectionsOpened.add()
        connection = load.expectNoError(name) { try place.connect(try store()) }
        scannedVersion = .max
        standing = connection.map { Int($0.version) } ?? .max
        tend()
    }

    private func store() throws -> Store {
        guard plan.hasOwnStore else { return load.store }
        if let ownStore { return ownStore }
        load.tally.storesOpened.add()
        let opened = try Store(load.configuration)
        ownStore = opened
        return opened
    }

    /// Ends all tokens and lets go of the connection, and of the store if it is the site's own.
    func close() {
        for view in views where view.end(.invalidate) { load.tally.tokensEndedOnPlace.add() }
        views = []
        publishViews()
        connection = nil
        if random.oneIn(2) {
            ownStore?.close()
            ownStore = nil
        }
    }

    func reopen() {
        guard !load.isStopping else { return }
        close()
        open()
    }

    /// Forgets views that have ended and makes as many as are missing.
    func tend() {
        views.removeAll(where: \.hasEnded)
        while views.count < plan.viewCount, connection != nil, addView() {}
        publishViews()
    }

    private func addView() -> Bool {
        guard let connection else { return false }
        viewsMade += 1
        let query = random.one(of: load.plan.queries)
        let view = load.expectNoError(name) {
            let view = try View("view \(viewsMade)", query, self, connection)
            try view.start()
            return view
        }
        if let view { views.append(view) }
        return view != nil
    }

    private func publishViews() {
        let current = views
        let before = lock.withLock {
            let before = visibleViews
            visibleViews = current
            return before
        }
        withExtendedLifetime(before) {}
    }

    // MARK: From other threads

    /// Ends the token of some view from the calling thread, which is not the place's.
    func endSomeView(_ how: View.Ending, _ random: inout SeededRandom) {
        let views = lock.withLock { visibleViews }
        guard !views.isEmpty, random.one(of: views).end(how) else { return }
        (how == .drop ? load.tally.tokensDropped : load.tally.tokensEndedElsewhere).add()
    }

    // MARK: Turns of the place, outside of callbacks

    func endSomeViewHere(_ how: View.Ending) {
        guard !views.isEmpty, random.one(of: views).end(how) else { return }
        (how == .drop ? load.tally.tokensDropped : load.tally.tokensEndedOnPlace).add()
        tend()
    }

    /// Writes through the connection.
    func write() {
        guard let connection, !load.isStopping, load.gate.tryEnter() else { return }
        defer { load.gate.leave() }
        if write(connection) { load.tally.connectionCommits.add() }
    }

    private func write(_ connection: Connection) -> Bool {
        let timeout = random.oneIn(8) ? 0.002 : nil
        return load.write(name, commit, &random) { body in
            try connection.write(timeout: timeout) { try body(connection) }
        }
    }

    // MARK: Callbacks

    /// I5.
    func enter(_ view: View) {
        let depth = inside.add(1, ordering: .acquiringAndReleasing).newValue
        load.verdict.expect(
            .i5, depth == 1 && place.isHere, view.description,
            depth == 1 ? "called elsewhere than on \(place.name)" : "called while \(depth - 1) others were running")
    }

    func leave() { inside.subtract(1, ordering: .acquiringAndReleasing) }

    /// A table at the connection's version; and the ledger, which must add up to it.
    func rows(_ table: TableSize, _ connection: Connection) -> [RowValue]? {
        if scannedVersion != connection.version {
            scans = [:]
            scannedVersion = connection.version
            checkLedger(connection)
        }
        if let known = scans[table] { return known }
        let rows = load.expectNoError(name) { try Scan.rows(table, connection) }
        scans[table] = rows
        return rows
    }

    private func checkLedger(_ connection: Connection) {
        guard let commits = load.expectNoError(name, { try Ledger.commits(connection) }) else { return }
        let sum = commits.values.reduce(0, +)
        load.verdict.expect(
            .i2, sum == Int(connection.version), name,
            "the snapshot of version \(connection.version) holds what \(sum) commits have written: \(commits)")
    }

    func otherView(than view: View) -> View? {
        guard views.count > 1, random.oneIn(4) else { return nil }
        let other = random.one(of: views)
        return other === view || other.hasEnded || other.kept == nil ? nil : other
    }

    /// What callbacks do now and then besides looking: take long, write, end tokens, add observers.
    func calledBack(_ view: View, _ connection: Connection) {
        guard !load.isStopping else { return }
        if plan.isSlow, random.oneIn(100) { dawdle() }
        switch random.below(400) {
        case 0..<4:
            guard load.gate.tryEnter() else { return }
            defer { load.gate.leave() }
            if write(connection) { load.tally.callbackCommits.add() }
        case 4, 5: if view.end(.invalidate) { load.tally.tokensEndedInCallback.add() }
        case 6: if random.one(of: views).end(.invalidate) { load.tally.tokensEndedInCallback.add() }
        case 7: if view.end(.drop) { load.tally.tokensDropped.add() }
        case 8, 9: tend()
        default: break
        }
    }

    /// Keeps the connection's version for a while: a deliberate pin.
    private func dawdle() {
        load.tally.slowCallbacks.add()
        sleep(us: 1_000 * (random.oneIn(12) ? random.from(200...900) : random.from(2...60)))
        noteStanding()
    }

    /// Notes for how many commits the connection has kept its version, for I8. In callbacks and in every other turn.
    func noteStanding() {
        guard let connection else { return }
        load.tally.pinnedCommits.raise(to: load.pulse.version - min(standing, load.pulse.version))
        standing = Int(connection.version)
    }

    // MARK: At rest

    /// I6, once the connection stands at `version`; false before.
    func checkAtRest(_ version: UInt64) -> Bool {
        guard let connection else { return true }
        guard connection.version >= version, views.allSatisfy({ $0.hasEnded || $0.kept != nil }) else { return false }
        for view in views {
            guard let rows = rows(view.query.table, connection) else { return true }
            view.checkAtRest(rows)
        }
        return true
    }

    var standingText: String { "\(name) stands at version \(connection?.version ?? 0)" }
}
