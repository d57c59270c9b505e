// The observers of a site, in the order in which they are made. The n-th observer of a site is the same in every run
// with one seed.
import StillingWell
import StillingWellSeededRandom

enum SectionRule: CaseIterable, Sendable {
    case byGroup, byGroupDescending, byIsDone, byBand

    static let bandWidth = 5

    /// Returns a key that orders the sections.
    func key(_ row: RowValue) -> Int {
        switch self {
        case .byGroup: row.group ?? -1
        case .byGroupDescending: -(row.group ?? -1)
        case .byIsDone: row.isDone ? 1 : 0
        case .byBand: row.score / Self.bandWidth
        }
    }
}

enum ObserverPlan: Sendable {
    case store
    case object(key: Int)
    case rows(Query, columns: [Column]?)
    case sections(Query, SectionRule, isShallow: Bool)
    case members(board: Int)
    case tags(board: Int)
    case boards(BoardQuery, BoardColumns)
    case loop(LoopPlan)

    enum Kind: CaseIterable {
        case store, object, rows, skippableRows, sections, members, tags, boards, loop
    }

    /// Kinds of observers in one round. Repetitions are weights.
    private static let round: [Kind] =
        [.store, .object, .object, .members, .tags, .loop, .loop, .sections, .sections, .boards, .boards, .boards]
        + Array(repeating: .rows, count: 6) + [.skippableRows, .skippableRows]

    /// Makes the plan of the `number`-th observer of a site.
    init(_ plan: Plan, site: Int, number: Int) {
        var rounds = plan.random("round \(number / Self.round.count) of site \(site)")
        let kind = Self.round.shuffled(using: &rounds)[number % Self.round.count]
        var random = plan.random("observer \(number) of site \(site)")
        switch kind {
        case .store: self = .store
        case .object: self = .object(key: random.below(plan.smallKeys))
        case .rows:
            let columns =
                random.oneIn(3) ? Array(Column.allCases.shuffled(using: &random).prefix(random.below(3))) : nil
            self = .rows(random.one(of: plan.queries), columns: columns)
        case .skippableRows:
            self = .rows(random.one(of: plan.queries.filter { $0.isPlain && $0.table == .small }), columns: nil)
        case .sections:
            let query = random.one(of: plan.queries.filter { $0.isPlain && $0.table == .small })
            self = .sections(query, random.one(of: SectionRule.allCases), isShallow: random.oneIn(4))
        case .members: self = .members(board: random.below(plan.boardKeys))
        case .tags: self = .tags(board: random.below(plan.boardKeys))
        case .boards: self = .boards(BoardQuery(plan, &random), random.one(of: BoardColumns.weighted))
        case .loop: self = .loop(LoopPlan(plan, &random))
        }
    }
}

extension ObserverPlan: CustomStringConvertible {
    var description: String {
        switch self {
        case .store: "the store"
        case .object(let key): "the object with key \(key)"
        case .rows(let query, let columns): "\(query)\(columns.map { ", columns \($0.map(\.rawValue))" } ?? "")"
        case .sections(let query, let rule, let isShallow):
            "sections \(rule)\(isShallow ? ", shallow," : "") of \(query)"
        case .members(let board): "the members of board \(board)"
        case .tags(let board): "the tags of board \(board)"
        case .boards(let query, let columns): "\(query), \(columns)"
        case .loop(let plan): "a loop over \(plan)"
        }
    }
}
