// An observer of a query: what it was told, and the checks at every callback. Used on its site's place, except
// `pending`, which `lock` guards: any thread's writes may name its token.
import StillingWell
import StillingWellFixtures
import StillingWellSync

final class View: Observer, @unchecked Sendable {
    /// Large tables are scanned in one callback of so many.
    static let largeScanInterval = 16
    /// All shown ids of a large view are compared in one callback of so many.
    static let largeIDsInterval = 4

    let query: Query
    /// Whose changes count as modifications; nil: all.
    let columns: [Column]?
    private let face: ViewFace
    /// The initial rows with all change sets applied; nil before the initial callback.
    private(set) var kept: [RowValue]?

    private let lock = TracedMutex("pending silence")
    /// Silent commits that have not been crossed yet.
    private var pending: [Silence] = []

    /// Subscribes. On the place.
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

    // MARK: Silent commits

    /// Whether writes may name it: what a skip means for some columns, for groups and for an end is not modelled.
    var canBeSkipped: Bool { columns == nil && query.isPlain }

    /// Notes a commit that it is not to hear of, before that becomes visible. Any thread.
    func hush(_ silence: Silence) { lock.withLock { pending.append(silence) } }

    private func takeSilence(upTo version: UInt64) -> [Silence] {
        lock.withLock {
            let due = pending.filter { $0.version <= version }
            pending.removeAll { $0.version <= version }
            return due.sorted { $0.version < $1.version }
        }
    }

    /// Brings what this observer has itself shown into what it was told.
    private func apply(_ due: [Silence]) { for silence in due where kept != nil { silence.apply(to: &kept!, query) } }

    // MARK: Being told

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

    /// Brings the kept rows forward by a change set; nil, or what does not fit.
    private func apply(_ changes: ChangeSet) -> String? {
        guard kept != nil else { return "an update before the initial callback" }
        return ChangeSetReplay.apply(changes, to: &kept!, id: \.id) { $0 < face.count() ? face.row($0) : nil }
    }

    /// Rules 3 and 8: what is told was written since, by a commit this observer is to hear of.
    private func rowNobodyWrote(_ changes: ChangeSet, _ old: [RowValue]) -> String? {
        guard let new = kept else { return nil }
        if columns?.isEmpty == true, let index = changes.modifications.first {
            return "a modification of row \(index), where none is wanted: \(old[index])"
        }
        let pairs =
            Array(zip(changes.modifications, changes.modificationsNew)) + changes.moves.map { ($0.from, $0.to) }
        // What comes over an end, or first in a group, need not have been written.
        for (from, to) in pairs where query.isPlain && old[from].mark == new[to].mark {
            return "told again what is known\nrow \(from), known: \(old[from])\nrow \(to), told: \(new[to])"
        }
        return nil
    }

    // MARK: Checking

    /// I1, I2 and I10 at the version of the callback.
    private func check(_ connection: Connection) {
        let isSmall = query.table == .small
        if isSmall || callCount % Self.largeIDsInterval == 1 { checkIDs() }
        guard isSmall || callCount % Self.largeScanInterval == 1 else { return }
        guard let rows = site.rows(query.table, connection) else { return }
        checkRows(query.evaluate(rows), .i2, connection.version)
        // A large table is scanned here only if it has been for this view.
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

    /// Compares what is shown with the query from scratch, and what was told with both.
    private func checkRows(_ expected: [RowValue], _ invariant: Invariant, _ version: UInt64) {
        let place = "version \(version), callback \(callCount) of this observer"
        let shown = Difference.first("shown", face.ids(), "from scratch", expected.map(\.id))
        load.verdict.expectNone(invariant, shown.map { "\($0)\n\(states(expected))\n\(place)" }, description)
        guard shown == nil else { return }
        let told = Difference.first(
            "told", (kept ?? []).map { $0.only(columns) }, "from scratch", expected.map { $0.only(columns) })
        load.verdict.expectNone(.i1, told.map { "\($0)\n\(place)" }, description)
    }

    /// Both rows where `rows` and what is shown part.
    private func states(_ rows: [RowValue]) -> String {
        Difference.first("state shown", shownRows(), "state expected", rows) ?? "the shown rows have changed since"
    }

    /// I10: in another view's callback this view shows the same version.
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
