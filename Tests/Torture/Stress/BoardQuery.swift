// Boards as plain values, and queries for them. Each query exists as a filter of the store and as a plain Swift test.
// Most filters use links and lists, so the results depend on rows of another table.
import StillingWell
import StillingWellSeededRandom

struct BoardValue: Equatable, Sendable {
    var id: ObjectID
    var key: Int
    var score: Int
    var mark: Int
    var lead: RowValue?
    var members: [RowValue]
    var tags: [Int]

    init(_ board: Board) {
        id = board.objectID ?? ObjectID(rawValue: 0)
        key = board.key
        score = board.score
        mark = board.mark
        lead = board.lead.map { RowValue($0) }
        members = board.members.map { RowValue($0) }
        tags = Array(board.tags)
    }

    /// Returns the values that an observer of these columns is told. The other values are zeroed.
    func only(_ columns: BoardColumns) -> BoardValue {
        var board = self
        if columns == .all { return board }
        (board.key, board.mark, board.members, board.tags) = (0, 0, [], [])
        if columns != .score { board.score = 0 }
        board.lead = columns == .scoreOfLead ? board.lead.map { $0.only([.score]) } : nil
        return board
    }
}

extension BoardValue: CustomStringConvertible {
    var description: String {
        "#\(id.rawValue) key \(key) score \(score) written by commit \(mark & 0xffff_ffff) of writer \(mark >> 32) "
            + "lead [\(lead?.description ?? "none")] members \(members) tags \(tags)"
    }
}

/// Columns whose changes count as modifications.
enum BoardColumns: Sendable {
    /// All columns, and the rows behind links and in lists.
    case all
    case shallow, score, scoreOfLead

    static let weighted = [all, all, all, shallow, score, scoreOfLead]

    var keyPaths: [PartialKeyPath<Board>]? {
        switch self {
        case .all: nil
        case .shallow: []
        case .score: [\Board.score]
        case .scoreOfLead: [\Board.lead?.score]
        }
    }
}

struct BoardQuery: Sendable {
    enum Test: Sendable {
        case everything
        case score(Operator, Int)
        /// A condition on the linked row, written as a text query.
        case scoreOfLead(Operator, Int)
        case leadIsDone(Bool)
        /// A condition on the list's rows, written as a typed filter.
        case anyMember(Condition)
        case noMember(Condition)
        case allMembers(Condition)
        case memberCount(Operator, Int)
        case sumOfScores(Operator, Int)
        case hasTag(Int)
        /// Boards that link to one row, found by `linkingObjects`.
        case leadIs(key: Int)
        case hasMember(key: Int)
    }

    let test: Test
    /// Whether results are sorted by score ascending; false: descending; nil: in order of insertion.
    let byScore: Bool?

    init(_ plan: Plan, _ random: inout SeededRandom) {
        let comparison = random.one(of: Operator.allCases)
        let member: Condition =
            random.oneIn(2)
            ? .score(random.one(of: [.less, .greaterOrEqual]), random.below(Values.scores))
            : .titleHas(random.one(of: Part.allCases), random.one(of: Values.parts), ignoresCase: random.oneIn(2))
        switch random.below(18) {
        case 0, 1: test = .everything
        case 2: test = .score(comparison, random.below(Values.scores))
        case 3, 4: test = .scoreOfLead(comparison, random.below(Values.scores))
        case 5: test = .leadIsDone(random.oneIn(2))
        case 6: test = .anyMember(member)
        case 7: test = .noMember(member)
        case 8: test = .allMembers(member)
        case 9: test = .memberCount(comparison, random.below(6))
        case 10: test = .sumOfScores(comparison, random.below(60))
        case 11: test = .hasTag(random.below(Values.tags))
        case 12...14: test = .leadIs(key: random.below(plan.popularKeys))
        default: test = .hasMember(key: random.below(plan.popularKeys))
        }
        byScore = random.oneIn(3) ? nil : random.oneIn(2)
    }

    /// Whether the filter goes over a link or a list of objects. Queries by `linkingObjects` count separately
    /// (`isBacklink`).
    var isOverLinks: Bool {
        switch test {
        case .everything, .score, .leadIs, .hasMember, .hasTag: false
        default: true
        }
    }

    var isBacklink: Bool {
        switch test {
        case .leadIs, .hasMember: true
        default: false
        }
    }
}

/// A query on a connection, with the row that boards link to, if the query has one.
struct BoundBoardQuery {
    let query: BoardQuery
    private let row: ObjectID?
    private let target: SmallRow?
    let results: Results<Board>

    /// Returns nil if the row that boards should link to does not exist.
    init?(_ query: BoardQuery, _ connection: Connection) throws {
        let all = try connection.objects(Board.self)
        var found: SmallRow?
        let chosen: Results<Board>
        switch query.test {
        case .everything: chosen = all
        case .score(let comparison, let value): chosen = all.where(comparison.filter(\Board.score, value))
        case .scoreOfLead(let comparison, let value):
            chosen = try all.where("lead.score \(comparison.rawValue) $0", value)
        case .leadIsDone(let value): chosen = try all.where("lead.(isDone == \(value))")
        case .anyMember(let condition): chosen = all.where(.any(\.members, condition.filter(SmallRow.self)))
        case .noMember(let condition): chosen = all.where(.none(\.members, condition.filter(SmallRow.self)))
        case .allMembers(let condition): chosen = all.where(.all(\.members, condition.filter(SmallRow.self)))
        case .memberCount(let comparison, let value):
            chosen = try all.where("members.@count \(comparison.rawValue) \(value)")
        case .sumOfScores(let comparison, let value):
            chosen = try all.where("members.@sum.score \(comparison.rawValue) \(value)")
        case .hasTag(let tag): chosen = all.where((\Board.tags).contains(tag))
        case .leadIs(let key), .hasMember(let key):
            guard let target = try connection.object(SmallRow.self, forPrimaryKey: key) else { return nil }
            found = target
            if case .leadIs = query.test {
                chosen = try target.linkingObjects(\Board.lead)
            } else {
                chosen = try target.linkingObjects(\Board.members)
            }
        }
        self.query = query
        target = found
        row = found?.objectID
        results = query.byScore.map { chosen.sorted(by: \.score, ascending: $0) } ?? chosen
    }

    /// Whether the row that boards link to was deleted, so that the query finds nothing any more.
    var isOver: Bool { target?.isInvalidated ?? false }

    private func passes(_ board: BoardValue) -> Bool {
        switch query.test {
        case .everything: true
        case .score(let comparison, let value): comparison.admits(Order.of(board.score, value))
        // A missing link reads as null, which differs from every value.
        case .scoreOfLead(let comparison, let value): comparison.admits(board.lead.map { Order.of($0.score, value) })
        case .leadIsDone(let value): board.lead?.isDone == value
        case .anyMember(let condition): board.members.contains { condition.passes($0) }
        case .noMember(let condition): !board.members.contains { condition.passes($0) }
        case .allMembers(let condition): board.members.allSatisfy { condition.passes($0) }
        case .memberCount(let comparison, let value): comparison.admits(Order.of(board.members.count, value))
        case .sumOfScores(let comparison, let value):
            comparison.admits(Order.of(board.members.reduce(0) { $0 + $1.score }, value))
        case .hasTag(let tag): board.tags.contains(tag)
        case .leadIs: board.lead?.id == row
        case .hasMember: board.members.contains { $0.id == row }
        }
    }

    /// Evaluates the query without the store. `boards` must ascend by id.
    func evaluate(_ boards: [BoardValue]) -> [BoardValue] {
        let found = boards.filter(passes)
        guard let ascending = query.byScore else { return found }
        return found.sorted { a, b in
            a.score == b.score ? a.id < b.id : (a.score < b.score) == ascending
        }
    }
}

extension BoardQuery: CustomStringConvertible {
    var description: String {
        "boards where \(test)\(byScore.map { " by score \($0 ? "ascending" : "descending")" } ?? "")"
    }
}
