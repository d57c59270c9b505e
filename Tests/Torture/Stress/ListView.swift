// An observer of a list of a board. The elements are rows, whose changes count as well, or values.
import StillingWell
import StillingWellFixtures

final class ListView<Element: ListElement, Kept: Equatable & Sendable>: Observer, @unchecked Sendable {
    private let board: Board
    private let list: List<Element>
    private let value: (Element) -> Kept
    private let feature: Feature
    private let listOf: (Board) -> List<Element>
    private var kept: [Kept]?

    /// Subscribes. Must be called on the site's delivery context.
    init(
        _ name: String, _ board: Board, _ listOf: @escaping (Board) -> List<Element>, _ feature: Feature, _ site: Site,
        _ value: @escaping (Element) -> Kept
    ) throws {
        self.board = board
        self.listOf = listOf
        self.feature = feature
        self.value = value
        list = listOf(board)
        super.init(name, site)
        keep(try list.observe { [self] change in called { told(change, $0) } })
    }

    override var description: String { "\(super.description): \(feature.text), of a board" }
    override var hasBegun: Bool { kept != nil }

    private func told(_ change: ListChange<Element>, _ connection: Connection) {
        switch change {
        case .error(let error): load.verdict.report(.noError, description, "\(error)")
        case .initial:
            load.tally.initials.add()
            load.verdict.expect(.i1, kept == nil, description, "a second initial callback")
            kept = list.map(value)
        case .update(_, let changes):
            expectLaterVersion(connection)
            site.expectMayAdvance(self)
            load.tally.count(feature)
            guard kept != nil else {
                return load.verdict.report(.i1, description, "an update before the initial callback")
            }
            let problem = ChangeSetReplay.apply(changes, to: &kept!) { $0 < list.count ? value(list[$0]) : nil }
            load.verdict.expectNone(
                .i1, problem.map { "\($0)\n\(ToldChanges(changes).text)\nversion \(connection.version)" }, description)
        }
        check(.i2, connection.version)
        // The board was deleted, so the list does not change any more.
        if board.isInvalidated { _ = end(.invalidate) }
    }

    /// Compares with the list of a frozen board, which does not depend on observers.
    private func check(_ invariant: Invariant, _ version: UInt64) {
        guard let fresh = load.expectNoError(description, { try board.freeze() }) else { return }
        let expected = listOf(fresh.object).map(value)
        func difference(_ name: String, _ rows: [Kept]) -> String? {
            Difference.first(name, rows, "from scratch", expected, { "\($0)" }).map { "\($0)\nversion \(version)" }
        }
        load.verdict.expect(
            invariant, fresh.version == version, description, "frozen at version \(fresh.version), called at \(version)"
        )
        load.verdict.expectNone(invariant, difference("shown", list.map(value)), description)
        load.verdict.expectNone(.i1, difference("told", kept ?? []), description)
    }

    override func checkAtRest(_ connection: Connection) {
        load.verdict.expect(.i6, kept != nil, description, "the initial callback never came")
        check(.i6, connection.version)
    }
}
