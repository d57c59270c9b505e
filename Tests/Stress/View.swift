// One observer: what it was told, and the checks at every callback.
//
// Used on its site's place, except ending it, which any thread may do: `lock` guards `token`, which is taken out once;
// `isOver` is raised after `invalidate` (or the last release) has returned.
import LiveStore
import Synchronization
import TracedSync

final class View: @unchecked Sendable {
    enum Ending {
        case invalidate, drop
    }

    /// Large tables are scanned in one callback of so many.
    static let largeScanInterval = 16
    /// All shown ids of a large view are compared in one callback of so many.
    static let largeIDsInterval = 4

    let name: String
    let query: Query
    private unowned let site: Site
    private let load: Load
    private let face: ViewFace
    /// The initial rows with all change sets applied; nil before the initial callback.
    private(set) var kept: [RowValue]?
    private var lastVersion: UInt64 = 0
    private var callCount = 0
    private var callsWhileEnding = 0
    /// A turn of the place has begun after the token had ended: whatever was running then is over.
    private var isSealed = false

    private let lock = TracedMutex("view token")
    private var token: NotificationToken?
    private let isOver = Atomic<Bool>(false)

    /// On the place.
    init(_ name: String, _ query: Query, _ site: Site, _ connection: Connection) throws {
        self.name = name
        self.query = query
        self.site = site
        load = site.load
        face = try ViewFace(query, connection)
    }

    var description: String { "\(site.name), \(name): \(query)" }

    /// Subscribes. On the place.
    func start() throws {
        let made = try face.observe { [self] in called($0) }
        lock.withLock { token = made }
        load.tally.tokensMade.add()
    }

    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// Ends the subscription, once. Any thread.
    /// - Returns: whether this call did it.
    func end(_ how: Ending) -> Bool {
        var taken = lock.withLock {
            let taken = token
            token = nil
            return taken
        }
        guard taken != nil else { return false }
        if how == .invalidate { taken?.invalidate() }
        taken = nil
        isOver.store(true, ordering: .releasing)
        if site.place.isHere { isSealed = true } else { site.place.perform { [self] in isSealed = true } }
        return true
    }

    // MARK: Being called

    private func called(_ event: ViewEvent) {
        site.enter(self)
        defer { site.leave() }
        guard let connection = site.connection, isExpected() else { return }
        callCount += 1
        load.tally.callbacks[site.plan.place.ordinal].add()
        let version = connection.version
        site.noteStanding()
        switch event {
        case .initial: begin(version)
        case .update(let changes): follow(changes, version)
        case .failed(let error): load.verdict.report(.noError, description, "\(error)")
        }
        lastVersion = version
        check(connection)
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

    private func begin(_ version: UInt64) {
        load.tally.initials.add()
        load.verdict.expect(.i1, kept == nil, description, "a second initial callback, at version \(version)")
        kept = (0..<face.count()).map(face.row)
    }

    private func follow(_ changes: ChangeSet, _ version: UInt64) {
        let tally = load.tally
        tally.updates.add()
        tally.changesTold.add(changes.deletions.count + changes.insertions.count + changes.modifications.count)
        let step = Int(version) - Int(lastVersion)
        tally.versionsTold.add(step)
        tally.mostVersionsTold.raise(to: step)
        load.verdict.expect(.i3, version > lastVersion, description, "version \(version) after \(lastVersion)")
        load.verdict.expectNone(.i1, apply(changes), description)
    }

    /// Brings the kept rows forward by a change set; nil, or what does not fit.
    private func apply(_ changes: ChangeSet) -> String? {
        guard let old = kept else { return "an update before the initial callback" }
        let moved = Set(changes.moves.map(\.from))
        if changes.deletions.contains(where: { !old.indices.contains($0) }) {
            return "deletions \(changes.deletions) of \(old.count) rows"
        }
        let deleted = changes.deletions.filter { !moved.contains($0) }.map { old[$0].id }
        if deleted != changes.deletedIDs { return "deleted ids \(changes.deletedIDs), by indices \(deleted)" }

        var new = old
        for index in changes.deletions.reversed() { new.remove(at: index) }
        let count = face.count()
        for index in changes.insertions {
            guard index <= new.count, index < count else { return "insertion at \(index) of \(new.count) rows" }
            new.insert(face.row(index), at: index)
        }
        guard changes.modifications.count == changes.modificationsNew.count else {
            return "\(changes.modifications.count) modifications, \(changes.modificationsNew.count) new ones"
        }
        for (from, to) in zip(changes.modifications, changes.modificationsNew) {
            guard old.indices.contains(from), new.indices.contains(to), to < count, old[from].id == new[to].id else {
                return "modification \(from) to \(to) names two rows"
            }
            new[to] = face.row(to)
        }
        for move in changes.moves
        where !old.indices.contains(move.from) || !new.indices.contains(move.to) || old[move.from].id != new[move.to].id
        {
            return "move \(move.from) to \(move.to) names two rows"
        }
        kept = new
        return nil
    }

    // MARK: Checking

    /// I1, I2 and I10 at the version of the callback.
    private func check(_ connection: Connection) {
        let isSmall = query.table == .small
        if isSmall || callCount % Self.largeIDsInterval == 1 { checkIDs() }
        guard isSmall || callCount % Self.largeScanInterval == 1 else { return }
        guard let rows = site.rows(query.table, connection) else { return }
        checkRows(query.evaluate(rows), .i2)
        // A large table is scanned here only if it has been for this view.
        if let other = site.otherView(than: self), other.query.table == .small || !isSmall {
            other.checkFromElsewhere(connection)
        }
    }

    private func checkIDs() {
        let difference = Difference.first("told", kept?.map(\.id) ?? [], "shown", face.ids())
        load.verdict.expectNone(.i1, difference, description)
    }

    /// Compares what is shown with the query from scratch, and what was told with both.
    private func checkRows(_ expected: [RowValue], _ invariant: Invariant) {
        let shown = Difference.first("shown", face.ids(), "from scratch", expected.map(\.id))
        load.verdict.expectNone(invariant, shown.map(withVersion), description)
        guard shown == nil else { return }
        let told = Difference.first("told", kept ?? [], "from scratch", expected)
        load.verdict.expectNone(.i1, told.map(withVersion), description)
    }

    private func withVersion(_ difference: String) -> String {
        "\(difference)\nversion \(lastVersion), callback \(callCount) of this observer"
    }

    /// I10: in another view's callback this view shows the same version.
    private func checkFromElsewhere(_ connection: Connection) {
        guard let rows = site.rows(query.table, connection) else { return }
        let difference = Difference.first("shown", face.ids(), "from scratch", query.evaluate(rows).map(\.id))
        load.verdict.expectNone(
            .i10, difference.map { "\($0)\nin a callback of another observer at version \(connection.version)" },
            description)
    }

    /// I6: with all writers at rest, `rows` being the table at the last version.
    func checkAtRest(_ rows: [RowValue]) {
        guard !hasEnded else { return }
        load.verdict.expect(.i6, kept != nil, description, "the initial callback never came")
        checkRows(query.evaluate(rows), .i6)
    }
}
