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
    private var views: [Observer] = []
    private var random: SeededRandom
    private let commit: Commit
    private var generation = 0
    private var viewsMade = 0
    /// Tables as scanned at `scannedVersion`; views of one delivery share them.
    private var scans: [TableSize: [RowValue]] = [:]
    private var scannedVersion: UInt64 = 0
    /// The version at which rows were last told, to whomever.
    private(set) var lastViewVersion: UInt64 = 0
    /// The version the connection was last seen at.
    private var standing = Int.max

    private let inside = Atomic<Int>(0)
    private let lock = TracedMutex("site views")
    private var visibleViews: [Observer] = []

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
        lastViewVersion = 0
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
        guard let view = load.expectNoError(name, { try makeView(connection) }) else { return false }
        views.append(view)
        return true
    }

    private func makeView(_ connection: Connection) throws -> Observer {
        let name = "observer \(viewsMade)"
        switch random.below(16) {
        case 0: return try StoreObserver(name, self, connection)
        case 1, 2:
            // Only where the connection shows no write of its own: the first old values are those of the last delivery.
            let key = random.below(load.plan.smallKeys)
            guard try Ledger.version(connection) == connection.version,
                let row = try connection.object(SmallRow.self, forPrimaryKey: key)
            else { break }
            return try ObjectObserver(name, row, self, connection)
        default: break
        }
        let query = random.one(of: load.plan.queries)
        let columns = random.oneIn(4) ? Array(Column.allCases.shuffled(using: &random).prefix(random.below(3))) : nil
        return try View(name, query, columns, self, connection)
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
    func endSomeView(_ how: Observer.Ending, _ random: inout SeededRandom) {
        let views = lock.withLock { visibleViews }
        guard !views.isEmpty, random.one(of: views).end(how) else { return }
        (how == .drop ? load.tally.tokensDropped : load.tally.tokensEndedElsewhere).add()
    }

    /// Something for a write to skip; its token may end meanwhile.
    func someSkippableView(_ random: inout SeededRandom) -> View? {
        let views = lock.withLock { visibleViews }
        guard !views.isEmpty, let view = random.one(of: views) as? View else { return nil }
        return view.canBeSkipped ? view : nil
    }

    // MARK: Turns of the place, outside of callbacks

    func endSomeViewHere(_ how: Observer.Ending) {
        guard !views.isEmpty, random.one(of: views).end(how) else { return }
        (how == .drop ? load.tally.tokensDropped : load.tally.tokensEndedOnPlace).add()
        tend()
    }

    /// Writes through the connection.
    func write() {
        guard let connection, !load.isStopping, load.gate.tryEnter() else { return }
        defer { load.gate.leave() }
        if write(connection, skipping: nil) { load.tally.connectionCommits.add() }
    }

    /// Half of the writes are silent: for `view`, or for some.
    private func write(_ connection: Connection, skipping view: View?) -> Bool {
        let timeout = random.oneIn(8) ? 0.002 : nil
        if random.oneIn(2) {
            var skipped = (0..<random.from(1...3)).compactMap { _ in random.one(of: views) as? View }
            if let view { skipped.append(view) }
            return load.writeSilently(name, commit, skipped.filter(\.canBeSkipped).unique, &random) { tokens, body in
                try connection.write(timeout: timeout, withoutNotifying: tokens) { try body(connection) }
            }
        }
        let isByHand = random.oneIn(4)
        return load.write(name, commit, &random) { body in
            if !isByHand { return try connection.write(timeout: timeout) { try body(connection) } }
            try connection.beginWrite(timeout: timeout)
            do {
                try body(connection)
            } catch {
                try connection.cancelWrite()
                throw error
            }
            try connection.commitWrite()
        }
    }

    /// Rule 12: afterwards it stands at what was the newest version before, and the callbacks have been called.
    func refresh() {
        guard let connection, !load.isStopping else { return }
        load.tally.refreshes.add()
        guard let newest = load.expectNoError(name, { try load.store.read { $0.version } }) else { return }
        guard load.expectNoError(name, { try connection.refresh() }) != nil else { return }
        load.verdict.expect(
            .i6, connection.version >= newest, name,
            "refresh() stopped at version \(connection.version) where \(newest) was the newest before")
    }

    // MARK: Callbacks

    /// I5.
    func enter(_ view: Observer) {
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
        guard views.count > 1, random.oneIn(4), let other = random.one(of: views) as? View else { return nil }
        return other === view || other.hasEnded || !other.hasBegun ? nil : other
    }

    /// What callbacks do now and then besides looking: take long, write, end tokens, add observers.
    func calledBack(_ view: Observer, _ connection: Connection) {
        if !(view is StoreObserver) { lastViewVersion = connection.version }
        guard !load.isStopping else { return }
        if plan.isSlow, random.oneIn(100) { dawdle() }
        switch random.below(400) {
        case 0..<4:
            guard load.gate.tryEnter() else { return }
            defer { load.gate.leave() }
            if write(connection, skipping: view as? View) { load.tally.callbackCommits.add() }
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
        guard connection.version >= version, views.allSatisfy({ $0.hasEnded || $0.hasBegun }) else { return false }
        for view in views where !view.hasEnded { view.checkAtRest { rows($0, connection) } }
        return true
    }

    var standingText: String { "\(name) stands at version \(connection?.version ?? 0)" }
}

extension [View] {
    var unique: [View] {
        reduce(into: []) { kept, view in if !kept.contains(where: { $0 === view }) { kept.append(view) } }
    }
}
