// An observer of a query, with the checks at every callback. `lock` guards `pending`, because any thread's writes may
// name the token. All other state is used on the site's delivery context only.
import StillingWell
import StillingWellFixtures
import StillingWellSync

final class View: Observer, @unchecked Sendable {
    /// Large tables are scanned in one of this many callbacks.
    static let largeScanInterval = 16
    /// All shown ids of a large view are compared in one of this many callbacks.
    static let largeIDsInterval = 4

    let query: Query
    /// Columns whose changes count as modifications. nil: all.
    let columns: [Column]?
    private let face: ViewFace
    /// The initial rows with all change sets and skipped commits applied, or nil before the initial callback.
    private(set) var kept: [RowValue]?

    private let lock = TracedMutex("pending silence")
    /// Commits with suppressed notification whose version has not been passed yet.
    private var pending: [Silence] = []

    /// Subscribes. Must be called on the site's delivery context.
    init(_ name: String, _ query: Query, _ columns: [Column]?, _ site: Site, _ connection: Connection) throws {
        self.query = query
        self.columns = columns
        face = try ViewFace(query, connection)
        super.init(name, site)
        keep(try face.observe(columns) { [self] event in called { told(event, $0) } })
    }

    override var description: String {
        "\(super.description): \(query)\(columns.map { ", columns \($0.map(\.rawValue))" } ?? "")"
    }

    override var hasBegun: Bool { kept != nil }

    // MARK: Suppressing commits

    /// Whether writes may name its token. Skips are not modelled for some columns, distinct rows or a limit.
    var canBeSkipped: Bool { columns == nil && query.isPlain }

    /// Notes a commit that skips this observer, before the commit is visible. May be called on any thread.
    func hush(_ silence: Silence) { lock.withLock { pending.append(silence) } }

    private func takeSilence(upTo version: UInt64) -> [Silence] {
        lock.withLock {
            let due = pending.filter { $0.version <= version }
            pending.removeAll { $0.version <= version }
            return due.sorted { $0.version < $1.version }
        }
    }

    /// Applies skipped changes, which this observer has shown itself, to the rows it knows.
    private func apply(_ due: [Silence]) { for silence in due where kept != nil { silence.apply(to: &kept!, query) } }

    // MARK: Deliveries

    private func told(_ event: ViewEvent, _ connection: Connection) {
        switch event {
        case .initial: begin(connection.version)
        case .update(let changes): follow(changes, connection)
        case .failed(let error): load.verdict.report(.noError, description, "\(error)")
        }
        check(connection)
    }

    private func begin(_ version: UInt64) {
        load.tally.initials.add()
        load.verdict.expect(.i1, kept == nil, description, "a second initial callback, at version \(version)")
        _ = takeSilence(upTo: version)
        kept = shownRows()
    }

    private func shownRows() -> [RowValue] { (0..<face.count()).map(face.row) }

    private func follow(_ changes: ChangeSet, _ connection: Connection) {
        let tally = load.tally
        tally.updates.add()
        countFeatures()
        tally.changesTold.add(changes.deletions.count + changes.insertions.count + changes.modifications.count)
        let step = Int(connection.version) - Int(lastVersion)
        tally.versionsTold.add(step)
        tally.mostVersionsTold.raise(to: step)
        expectLaterVersion(connection)
        site.expectMayAdvance(self)
        let told = kept ?? []
        let due = takeSilence(upTo: connection.version)
        apply(due)
        let known = kept ?? []
        func story(_ problem: String) -> String {
            let silences = due.flatMap { silence in silence.rows.map { "version \(silence.version): \($0)" } }
            return
                ([problem, ToldChanges(changes).text, "version \(connection.version), told before \(lastVersion)"]
                + (due.isEmpty ? [] : ["skipped:"] + silences + ["told before:"] + told.map(\.description)))
                .joined(separator: "\n")
        }
        let problem = apply(changes)
        load.verdict.expectNone(.i1, problem.map(story), description)
        guard problem == nil else { return }
        if !due.isEmpty { tally.count(.skipsCrossed) }
        load.verdict.expectNone(due.isEmpty ? .i1 : .i7, rowNobodyWrote(changes, known).map(story), description)
    }

    private func countFeatures() {
        let tally = load.tally
        if query.isText { tally.count(.textQueries) }
        if query.limit != nil { tally.count(.limitedQueries) }
        if !query.distinct.isEmpty { tally.count(.distinctQueries) }
        if let columns { tally.count(columns.isEmpty ? .shallowObservers : .keyPathObservers) }
    }

    /// Applies a change set to the kept rows. Returns a problem, or nil.
    private func apply(_ changes: ChangeSet) -> String? {
        guard kept != nil else { return "an update before the initial callback" }
        return ChangeSetReplay.apply(changes, to: &kept!, id: \.id) { $0 < face.count() ? face.row($0) : nil }
    }

    /// Checks rules 3 and 8: each row that was modified or moved was written since, by a commit that does not skip this
    /// observer. Returns a problem, or nil.
    private func rowNobodyWrote(_ changes: ChangeSet, _ old: [RowValue]) -> String? {
        guard let new = kept else { return nil }
        if columns?.isEmpty == true, let index = changes.modifications.first {
            return "a modification of row \(index), where none is wanted: \(old[index])"
        }
        let pairs =
            Array(zip(changes.modifications, changes.modificationsNew)) + changes.moves.map { ($0.from, $0.to) }
        // With a limit or distinct columns, rows that were not written may enter or leave.
        for (from, to) in pairs where query.isPlain && old[from].mark == new[to].mark {
            return "told again what is known\nrow \(from), known: \(old[from])\nrow \(to), told: \(new[to])"
        }
        return nil
    }

    // MARK: Checking

    /// Checks I1, I2 and I10 at the version of the callback.
    private func check(_ connection: Connection) {
        let isSmall = query.table == .small
        if isSmall || callCount % Self.largeIDsInterval == 1 { checkIDs() }
        guard isSmall || callCount % Self.largeScanInterval == 1 else { return }
        guard let rows = site.rows(query.table, connection) else { return }
        checkRows(query.evaluate(rows), .i2, connection.version)
        // A large table is only used for the other view if it was scanned for this one.
        if let other = site.otherView(than: self), other.query.table == .small || !isSmall {
            other.checkFromElsewhere(connection)
        }
        if columns == nil {
            site.freezeSometimes {
                try face.freeze()
            } shown: {
                kept ?? []
            }
        }
    }

    private func checkIDs() {
        let difference = Difference.first("told", kept?.map(\.id) ?? [], "shown", face.ids())
        load.verdict.expectNone(.i1, difference.map { "\($0)\n\(states(kept ?? []))" }, description)
    }

    /// Compares the shown ids, and if they are right the delivered rows, with a fresh evaluation.
    private func checkRows(_ expected: [RowValue], _ invariant: Invariant, _ version: UInt64) {
        let place = "version \(version), callback \(callCount) of this observer"
        let shown = Difference.first("shown", face.ids(), "from scratch", expected.map(\.id))
        load.verdict.expectNone(invariant, shown.map { "\($0)\n\(states(expected))\n\(place)" }, description)
        guard shown == nil else { return }
        let told = Difference.first(
            "told", (kept ?? []).map { $0.only(columns) }, "from scratch", expected.map { $0.only(columns) })
        load.verdict.expectNone(.i1, told.map { "\($0)\n\(place)" }, description)
    }

    /// Describes the first row that differs between `rows` and the rows shown.
    private func states(_ rows: [RowValue]) -> String {
        Difference.first("state shown", shownRows(), "state expected", rows) ?? "the shown rows have changed since"
    }

    /// Checks I10: in another observer's callback this view shows the same version.
    private func checkFromElsewhere(_ connection: Connection) {
        guard let rows = site.rows(query.table, connection) else { return }
        let expected = query.evaluate(rows)
        let difference = Difference.first("shown", face.ids(), "from scratch", expected.map(\.id))
        load.verdict.expectNone(
            .i10,
            difference.map {
                "\($0)\n\(states(expected))\nin a callback of another observer at version \(connection.version)"
            }, description)
    }

    override func checkAtRest(_ connection: Connection) {
        load.verdict.expect(.i6, kept != nil, description, "the initial callback never came")
        guard let rows = site.rows(query.table, connection) else { return }
        apply(takeSilence(upTo: connection.version))
        checkRows(query.evaluate(rows), .i6, connection.version)
    }
}
