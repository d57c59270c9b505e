// An observer of boards. If it observes all columns, a change of a linked row or of a row in a list counts as a change
// of the board (rule 13).
import StillingWell
import StillingWellFixtures

final class BoardView: Observer, @unchecked Sendable {
    private let bound: BoundBoardQuery
    private let columns: BoardColumns
    private var kept: [BoardValue]?
    /// Version at which each row was last inserted or modified by a change set, for the text of a violation.
    private var toldAt: [ObjectID: UInt64] = [:]
    private var calls: [UInt64] = []

    /// Subscribes. Must be called on the site's delivery context. Returns nil if the row that the query needs does not
    /// exist.
    init?(
        _ name: String, _ query: BoardQuery, _ columns: BoardColumns, _ site: Site, _ connection: Connection
    ) throws {
        guard let bound = try BoundBoardQuery(query, connection) else { return nil }
        self.bound = bound
        self.columns = columns
        super.init(name, site)
        let body: (ResultsChange<Board>) -> Void = { [self] change in called { told(change, $0) } }
        if let keyPaths = columns.keyPaths {
            keep(try bound.results.observe(keyPaths: keyPaths, body))
        } else {
            keep(try bound.results.observe(body))
        }
    }

    override var description: String { "\(super.description): \(bound.query), \(columns)" }
    override var hasBegun: Bool { kept != nil }

    private func told(_ change: ResultsChange<Board>, _ connection: Connection) {
        switch change {
        case .error(let error): load.verdict.report(.noError, description, "\(error)")
        case .initial:
            load.tally.initials.add()
            load.verdict.expect(.i1, kept == nil, description, "a second initial callback")
            kept = bound.results.map { BoardValue($0) }
        case .update(_, let changes): follow(changes, connection)
        }
        if let boards = site.boards(connection) { check(boards, .i2, connection.version) }
        if bound.isOver { _ = end(.invalidate) }
    }

    private func follow(_ changes: ChangeSet, _ connection: Connection) {
        expectLaterVersion(connection)
        site.expectMayAdvance(self)
        guard let old = kept else {
            return load.verdict.report(.i1, description, "an update before the initial callback")
        }
        let results = bound.results
        let problem = ChangeSetReplay.apply(changes, to: &kept!, id: \.id) {
            $0 < results.count ? BoardValue(results[$0]) : nil
        }
        load.verdict.expectNone(
            .i1, problem.map { "\($0)\n\(ToldChanges(changes).text)\nversion \(connection.version)" }, description)
        guard problem == nil else { return }
        for index in changes.insertions + changes.modificationsNew { toldAt[kept![index].id] = connection.version }
        calls = calls.suffix(4) + [connection.version]
        if columns == .shallow {
            load.verdict.expect(
                .i1, changes.modifications.isEmpty, description, "a modification, where none is wanted")
        }
        countFeatures(changes, old)
    }

    private func countFeatures(_ changes: ChangeSet, _ old: [BoardValue]) {
        let tally = load.tally
        tally.count(.boards)
        if bound.query.isOverLinks { tally.count(.linkQueries) }
        if bound.query.isBacklink { tally.count(.linkingObjects) }
        switch columns {
        case .all: break
        case .shallow: tally.count(.shallowObservers)
        case .score: tally.count(.keyPathObservers)
        case .scoreOfLead: tally.count(.linkPathObservers)
        }
        guard columns == .all, let new = kept else { return }
        for (from, to) in zip(changes.modifications, changes.modificationsNew) where old[from].mark == new[to].mark {
            tally.count(.deepChanges)
        }
    }

    private func check(_ boards: [BoardValue], _ invariant: Invariant, _ version: UInt64) {
        let expected = bound.evaluate(boards)
        let shown = Difference.first("shown", bound.results.objectIDs, "from scratch", expected.map(\.id))
        load.verdict.expectNone(invariant, shown.map { "\($0)\nversion \(version)\nof \(boards)" }, description)
        guard shown == nil else { return }
        let told = Difference.first(
            "told", (kept ?? []).map { $0.only(columns) }, "from scratch", expected.map { $0.only(columns) },
            { $0.description })
        load.verdict.expectNone(.i1, told.map { "\($0)\nversion \(version), \(history(expected))" }, description)
    }

    /// Describes the rows whose last delivered value is wrong: when they were delivered, and their present value.
    private func history(_ expected: [BoardValue]) -> String {
        let rows = zip(kept ?? [], expected).filter { $0.0.only(columns) != $0.1.only(columns) }.map { $0.0.id }
        let told = rows.map { id in "\(id) told at \(toldAt[id].map { "\($0)" } ?? "the first call")" }
        let shown = bound.results.filter { row in rows.contains { $0 == row.objectID } }.map { "\(BoardValue($0))" }
        return "\(told.joined(separator: ", ")), last called at \(calls), shown now: \(shown.joined(separator: ", "))"
    }

    override func checkAtRest(_ connection: Connection) {
        load.verdict.expect(.i6, kept != nil, description, "the initial callback never came")
        if let boards = site.boards(connection) { check(boards, .i6, connection.version) }
    }
}
