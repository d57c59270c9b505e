// One connection at a delivery context, with its observers. It opens and closes the connection, makes and ends tokens,
// and writes. Other threads reach it through `place.perform`, except for members that say otherwise.
//
// `lock` guards `visibleViews`. `inside` and `oldest` are atomic. All other state is used on the delivery context only.
import StillingWell
import StillingWellSeededRandom
import StillingWellSync
import Synchronization

final class Site: @unchecked Sendable {
    let number: Int
    let plan: Plan.SitePlan
    let place: any Place
    let load: Load

    private(set) var connection: Connection?
    private var ownStore: Store?
    private var views: [Observer] = []
    private var loops: [ChangeLoop] = []
    private var random: SeededRandom
    private let commit: Commit
    private var generation = 0
    /// Number of further calls of `resumeInTime` until autorefresh is set again.
    private var turnsUntilResumed = 0
    private var isRefreshing = false
    private var viewsMade = 0
    /// Tables scanned at `scannedVersion`. The observers of one delivery share them.
    private var scans: [TableSize: [RowValue]] = [:]
    private var boardScan: [BoardValue]?
    private var scannedVersion: UInt64 = 0
    /// Version of the last callback of an observer other than a store observer.
    private(set) var lastViewVersion: UInt64 = 0
    /// Connections that the site has released. A reader may still keep one alive.
    private var leaving: [Leaving] = []
    private let oldest = Atomic<Int>(.max)

    private struct Leaving {
        weak var connection: Connection?
        let version: UInt64
    }

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
        noteStanding()
        tend()
    }

    func store() throws -> Store {
        guard plan.hasOwnStore else { return load.store }
        if let ownStore { return ownStore }
        load.tally.storesOpened.add()
        let opened = try Store(load.configuration)
        ownStore = opened
        return opened
    }

    /// Ends all observers and loops, and releases the connection. Sometimes closes the site's own store.
    func close() {
        for view in views where view.end(.invalidate) { load.tally.tokensEndedOnPlace.add() }
        views = []
        for loop in loops { loop.cancel() }
        loops = []
        publishViews()
        if let connection { leaving.append(Leaving(connection: connection, version: connection.version)) }
        connection = nil
        noteStanding()
        if random.oneIn(2) {
            ownStore?.close()
            ownStore = nil
        }
    }

    func reopen() {
        guard !load.isStopping else { return }
        close()
        open()
        load.tally.count(.reopened)
    }

    /// Removes observers that have ended and makes new ones up to the planned number.
    func tend() {
        views.removeAll(where: \.hasEnded)
        while views.count + loops.count < plan.viewCount, connection != nil, addView() {}
        publishViews()
    }

    private func addView() -> Bool {
        guard let connection else { return false }
        let plan = ObserverPlan(load.plan, site: number, number: viewsMade)
        viewsMade += 1
        return load.expectNoError(name) { try make(plan, "observer \(viewsMade)", connection) } != nil
    }

    /// Makes an observer, unless its object does not exist.
    private func make(_ plan: ObserverPlan, _ name: String, _ connection: Connection) throws {
        func board(_ key: Int) throws -> Board? { try connection.object(Board.self, forPrimaryKey: key) }
        let made: Observer?
        switch plan {
        case .store: made = try StoreObserver(name, self, connection)
        case .object(let key):
            made = try freshObject(key, connection).map { try ObjectObserver(name, $0, self, connection) }
        case .rows(let query, let columns): made = try View(name, query, columns, self, connection)
        case .sections(let query, let rule, let isShallow):
            made = try SectionView(name, query, rule, isShallow: isShallow, self, connection)
        case .members(let key):
            made = try board(key).map { try ListView(name, $0, \.members, .lists, self) { RowValue($0) } }
        case .tags(let key): made = try board(key).map { try ListView(name, $0, \.tags, .listsOfValues, self) { $0 } }
        case .boards(let query, let columns): made = try BoardView(name, query, columns, self, connection)
        case .loop(let plan):
            if let loop = try ChangeLoop(name, plan, self, connection) { loops.append(loop) }
            return
        }
        if let made { views.append(made) }
    }

    /// Returns an object to observe, or nil if it does not exist, or if the connection shows a write of its own: the
    /// first old values must be those of the last delivery.
    func freshObject(_ key: Int, _ connection: Connection) throws -> SmallRow? {
        guard try Ledger.version(connection) == connection.version else { return nil }
        return try connection.object(SmallRow.self, forPrimaryKey: key)
    }

    /// Returns a random observer, or nil if there is none.
    private func someView() -> Observer? { views.isEmpty ? nil : random.one(of: views) }

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

    /// Ends the token of a random observer. Must be called on another thread than the delivery context's.
    func endSomeView(_ how: Observer.Ending, _ random: inout SeededRandom) {
        let views = lock.withLock { visibleViews }
        guard !views.isEmpty, random.one(of: views).end(how) else { return }
        load.tally.count(how == .drop ? .dropped : .endedElsewhere)
    }

    /// Returns an observer that a write can skip, or nil if it draws another one. Its token may end meanwhile. May be
    /// called on any thread.
    func someSkippableView(_ random: inout SeededRandom) -> View? {
        let views = lock.withLock { visibleViews }
        guard !views.isEmpty, let view = random.one(of: views) as? View else { return nil }
        return view.canBeSkipped ? view : nil
    }

    // MARK: Turns of the delivery context, outside of callbacks

    func endSomeViewHere(_ how: Observer.Ending) {
        guard !views.isEmpty, random.one(of: views).end(how) else { return }
        if how == .drop { load.tally.count(.dropped) } else { load.tally.tokensEndedOnPlace.add() }
        tend()
    }

    func cancelSomeLoop() {
        guard !loops.isEmpty, !load.isStopping else { return }
        loops.remove(at: random.below(loops.count)).cancel()
        load.tally.count(.loopsCancelled)
        tend()
    }

    // MARK: Standing still

    /// Switches autorefresh off for some calls of `turn`, or on again.
    func pause() {
        guard let connection, !load.isStopping else { return }
        connection.autorefresh.toggle()
        turnsUntilResumed = random.from(2...8)
    }

    private func resumeInTime() {
        guard let connection, !connection.autorefresh else { return }
        turnsUntilResumed -= 1
        if turnsUntilResumed <= 0 || load.isStopping { connection.autorefresh = true }
    }

    /// Checks that autorefresh is on or `refresh` is running, when an observer is called at a newer version.
    func expectMayAdvance(_ observer: Observer) {
        load.verdict.expect(
            .pause, isRefreshing || connection?.autorefresh != false, observer.description,
            "told of version \(connection?.version ?? 0) with autorefresh off")
    }

    /// Writes through the connection.
    func write() {
        guard let connection, !load.isStopping, load.gate.tryEnter() else { return }
        defer { load.gate.leave() }
        if write(connection, skipping: nil) { load.tally.count(.connectionCommits) }
    }

    /// Writes through the connection. Half of the writes suppress the notifications of some observers, and of `view`.
    private func write(_ connection: Connection, skipping view: View?) -> Bool {
        let timeout = random.oneIn(8) ? Duration.milliseconds(2) : nil
        if random.oneIn(2) {
            var skipped = (0..<random.from(1...3)).compactMap { _ in someView() as? View }
            if let view { skipped.append(view) }
            return load.writeSilently(name, commit, skipped.filter(\.canBeSkipped).unique, &random) { tokens, body in
                try connection.write(timeout: timeout, withoutNotifying: tokens) { try body(connection) }
            }
        }
        let isByHand = random.oneIn(4)
        return load.write(name, commit, showsDelivered: true, &random) { body in
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

    /// Appends a deleted row to a list, which must be refused. Must be called in a callback.
    func append(deleted row: SmallRow, _ connection: Connection) {
        guard !load.isStopping, load.gate.tryEnter() else { return }
        defer { load.gate.leave() }
        let isDone = load.attempt(name, showsDelivered: true) {
            try connection.write { connection in
                guard let board = try connection.objects(Board.self).first else { throw RolledBack() }
                board.members.append(row)
            }
        }
        load.verdict.expect(.noError, !isDone, name, "appended a deleted row to a list without an error")
    }

    /// Checks rule 12: after `refresh` the connection is at least at the version that was the newest before.
    func refresh() {
        guard let connection, !load.isStopping else { return }
        load.tally.count(.refreshes)
        guard let newest = load.expectNoError(name, { try load.store.read { $0.version } }) else { return }
        isRefreshing = true
        defer { isRefreshing = false }
        guard let isNewer = load.expectNoError(name, { try connection.refresh() }) else { return }
        if isNewer, !connection.autorefresh { load.tally.count(.refreshesWhilePaused) }
        load.verdict.expect(
            .i6, connection.version >= newest, name,
            "refresh() stopped at version \(connection.version) where \(newest) was the newest before")
    }

    // MARK: Callbacks

    /// Checks I5 at the start of a callback.
    func enter(_ view: Observer) {
        let depth = inside.add(1, ordering: .acquiringAndReleasing).newValue
        load.verdict.expect(
            .i5, place.callbackBegins() && depth == 1, view.description,
            depth == 1 ? "called elsewhere than on \(place.name)" : "called while \(depth - 1) others were running")
    }

    /// Checks rule 9: store observers are called for a version before other observers. No write skips them.
    func expectStoreTold(_ connection: Connection) {
        for observer in views where observer is StoreObserver && observer.isObserving {
            load.verdict.expect(
                .i10, observer.lastVersion >= connection.version, observer.description,
                "was told version \(observer.lastVersion) last when another observer was called at \(connection.version)"
            )
        }
    }

    func leave() {
        place.callbackEnds()
        inside.subtract(1, ordering: .acquiringAndReleasing)
    }

    /// Returns a table at the connection's version. For each new version also checks the ledger.
    func rows(_ table: TableSize, _ connection: Connection) -> [RowValue]? {
        forgetScans(of: connection)
        if let known = scans[table] { return known }
        let rows = load.expectNoError(name) { try Scan.rows(table, connection) }
        scans[table] = rows
        return rows
    }

    private func forgetScans(of connection: Connection) {
        guard scannedVersion != connection.version else { return }
        scans = [:]
        boardScan = nil
        scannedVersion = connection.version
        checkLedger(connection)
    }

    /// Returns all boards at the connection's version, ascending by id. Frozen boards do not depend on observers.
    func boards(_ connection: Connection) -> [BoardValue]? {
        forgetScans(of: connection)
        if let boardScan { return boardScan }
        boardScan = load.expectNoError(name) {
            try connection.objects(Board.self).where(\Board.key != -1).freeze().map { BoardValue($0.object) }
        }
        return boardScan
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

    /// Must be called in a callback.
    func freezeSometimes(_ freeze: () throws -> FrozenRows, shown: () -> [RowValue]) {
        guard random.oneIn(40) else { return }
        let holdUs = random.oneIn(12) ? random.from(300_000...2_500_000) : random.from(500...120_000)
        load.frozen.take(load, name, holdUs: holdUs, freeze, shown())
    }

    /// Does what callbacks do at times: take long, write, end tokens, add observers.
    func calledBack(_ view: Observer, _ connection: Connection) {
        if !(view is StoreObserver) { lastViewVersion = connection.version }
        guard !load.isStopping else { return }
        if plan.isSlow, random.oneIn(60) { dawdle() }
        switch random.below(400) {
        case 0..<4:
            guard load.gate.tryEnter() else { return }
            defer { load.gate.leave() }
            if write(connection, skipping: view as? View) { load.tally.count(.callbackCommits) }
        case 4, 5: if view.end(.invalidate) { load.tally.count(.endedInCallback) }
        case 6: if someView()?.end(.invalidate) == true { load.tally.count(.endedInCallback) }
        case 7: if view.end(.drop) { load.tally.count(.dropped) }
        case 8, 9: tend()
        default: break
        }
    }

    /// Sleeps in a callback, which keeps the connection's version for a while.
    private func dawdle() {
        load.tally.count(.slowCallbacks)
        sleep(us: 1_000 * (random.oneIn(12) ? random.from(200...900) : random.from(2...60)))
    }

    /// A turn without other work. Must not be called in a callback.
    func turn() {
        if connection?.autorefresh == false, random.oneIn(3) { refresh() }
        resumeInTime()
        noteStanding()
    }

    /// Notes the versions that are kept here, for I8. Called in callbacks, by `turn`, and as the connection is opened
    /// or closed.
    func noteStanding() {
        leaving.removeAll { $0.connection == nil }
        var versions = leaving.map(\.version)
        if let connection { versions.append(connection.version) }
        // Before the initial callback, the rows of an observer are evaluated at this version or a later one.
        for view in views where !view.hasBegun && !view.hasEnded { versions.append(view.madeAt) }
        for loop in loops where !loop.hasBegun { versions.append(loop.madeAt) }
        oldest.store(versions.min().map { Int($0) } ?? .max, ordering: .relaxed)
    }

    /// The oldest version that is kept here, or `.max`. May be read on any thread.
    var oldestKept: Int { oldest.load(ordering: .relaxed) }

    // MARK: At rest

    /// Checks I6 once the connection has reached `version` and its observers and loops have caught up. Returns false
    /// before.
    func checkAtRest(_ version: UInt64) -> Bool {
        guard let connection else { return true }
        resumeInTime()
        guard connection.version >= version, views.allSatisfy({ $0.hasEnded || $0.hasBegun }),
            loops.allSatisfy({ $0.isAtRest(self, connection) })
        else { return false }
        for view in views where !view.hasEnded { view.checkAtRest(connection) }
        return true
    }

    var standingText: String {
        let late = connection.map { connection in loops.filter { !$0.isAtRest(self, connection) } } ?? []
        return (["\(name) stands at version \(connection?.version ?? 0)"] + late.map(\.standingText))
            .joined(separator: "\n")
    }
}

extension [View] {
    var unique: [View] {
        reduce(into: []) { kept, view in if !kept.contains(where: { $0 === view }) { kept.append(view) } }
    }
}
