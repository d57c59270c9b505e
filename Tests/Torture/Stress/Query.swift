// A query in two forms: live results, and a plain filter and sort of all rows. A seed decides it.
import Foundation
import StillingWell
import StillingWellSeededRandom

enum Column: String, CaseIterable, Sendable {
    case score, weight, isDone, title, due, group

    func key<Object: StressRow>(_ type: Object.Type, ascending: Bool) -> SortKey<Object> {
        switch self {
        case .score: SortKey(\Object.score, ascending: ascending)
        case .weight: SortKey(\Object.weight, ascending: ascending)
        case .isDone: SortKey(\Object.isDone, ascending: ascending)
        case .title: SortKey(\Object.title, ascending: ascending)
        case .due: SortKey(\Object.due, ascending: ascending)
        case .group: SortKey(\Object.group, ascending: ascending)
        }
    }

    func keyPath<Object: StressRow>(_ type: Object.Type) -> PartialKeyPath<Object> {
        switch self {
        case .score: \Object.score
        case .weight: \Object.weight
        case .isDone: \Object.isDone
        case .title: \Object.title
        case .due: \Object.due
        case .group: \Object.group
        }
    }

    func order(_ a: RowValue, _ b: RowValue) -> Int {
        switch self {
        case .score: Order.of(a.score, b.score)
        case .weight: Order.of(a.weight, b.weight)
        case .isDone: Order.of(a.isDone, b.isDone)
        case .title: Order.of(a.title, b.title)
        case .due: Order.of(a.due, b.due)
        case .group: Order.of(a.group, b.group)
        }
    }
}

struct Query: Sendable {
    let table: TableSize
    let condition: Condition?
    let keys: [(column: Column, ascending: Bool)]
    /// Columns by which rows are distinct: of rows with equal values only the first is found.
    var distinct: [Column] = []
    var limit: Int?
    /// Whether the store gets the query as text.
    var isText = false

    /// Whether only written rows enter or leave the results. A limit or distinct columns would let other rows do so.
    var isPlain: Bool { distinct.isEmpty && limit == nil }

    func results<Object: StressRow>(_ type: Object.Type, _ connection: Connection) throws -> Results<Object> {
        let all = try connection.objects(type)
        return isText ? try QueryText(self).results(all) : refine(all)
    }

    /// Applies the query in typed form.
    func refine<Object: StressRow>(_ all: Results<Object>) -> Results<Object> {
        var results = all
        if let condition { results = results.where(condition.filter(Object.self)) }
        if !keys.isEmpty {
            results = results.sorted(by: keys.map { $0.column.key(Object.self, ascending: $0.ascending) })
        }
        if !distinct.isEmpty { results = results.distinct(by: distinct.map { $0.keyPath(Object.self) }) }
        return limit.map { results.limited(to: $0) } ?? results
    }

    func passes(_ row: RowValue) -> Bool { condition?.passes(row) ?? true }

    /// Evaluates the query without the store. `rows` must ascend by id, which decides ties.
    func evaluate(_ rows: [RowValue]) -> [RowValue] {
        let passing = condition.map { condition in rows.filter { condition.passes($0) } } ?? rows
        var found = keys.isEmpty ? passing : passing.sorted { precedes($0, $1) }
        if !distinct.isEmpty {
            found = found.reduce(into: []) { firsts, row in
                let isKnown = firsts.contains { first in distinct.allSatisfy { $0.order(first, row) == 0 } }
                if !isKnown { firsts.append(row) }
            }
        }
        return limit.map { Array(found.prefix($0)) } ?? found
    }

    func precedes(_ a: RowValue, _ b: RowValue) -> Bool {
        for key in keys {
            let order = key.column.order(a, b)
            if order != 0 { return (order < 0) == key.ascending }
        }
        return a.id < b.id
    }
}

extension Query: CustomStringConvertible {
    var description: String {
        let filter = condition.map { " where \($0)" } ?? ""
        let order = keys.map { $0.column.rawValue + ($0.ascending ? "" : " descending") }.joined(separator: ", ")
        let groups = distinct.isEmpty ? "" : " distinct in \(distinct.map(\.rawValue).joined(separator: ", "))"
        let end = limit.map { " limited to \($0)" } ?? ""
        return
            "\(table.rawValue)\(filter)\(keys.isEmpty ? "" : " by \(order)")\(groups)\(end)\(isText ? ", as text" : "")"
    }
}

extension Query {
    /// Makes the query with this number. Of 16 queries, six are limited, four are distinct, and seven are given as
    /// text.
    init(number: Int, _ random: inout SeededRandom) {
        self.init(number % 8 == 7 ? .large : .small, &random)
        if number % 4 == 1 || number % 8 == 6 { limit = random.from(0...(table == .small ? 8 : 60)) }
        if number % 4 == 2 {
            distinct = Array([Column.isDone, .group, .title].shuffled(using: &random).prefix(random.from(1...2)))
        }
        isText = number % 8 < 3 || number % 16 == 15
    }

    /// About half of the queries have a range on their first sort key. The store keeps one tree for the sort order and
    /// serves such queries as ranges of it, so many queries share a tree.
    private init(_ table: TableSize, _ random: inout SeededRandom) {
        self.table = table
        let columns = Column.allCases.shuffled(using: &random)
        let ascending = (0..<3).map { _ in random.oneIn(2) }
        let count = [0, 1, 1, 1, 2, 3][random.below(6)]
        if random.oneIn(2) {
            let byScore = random.oneIn(2)
            keys = [(byScore ? .score : .weight, ascending[0])]
            condition = byScore ? .scoreRange(&random) : .weightRange(&random)
        } else {
            keys = zip(columns, ascending).prefix(count).map { (column: $0, ascending: $1) }
            condition = random.oneIn(5) ? nil : Condition(&random, depth: 2)
        }
    }
}

extension Condition {
    fileprivate static func scoreRange(_ random: inout SeededRandom) -> Condition {
        let low = random.below(Values.scores - 2)
        let high = low + 1 + random.below(Values.scores - low)
        let lower = Condition.score(random.oneIn(2) ? .greater : .greaterOrEqual, low)
        let upper = Condition.score(random.oneIn(2) ? .less : .lessOrEqual, high)
        return random.oneIn(4) ? lower : random.oneIn(4) ? upper : .and([lower, upper])
    }

    fileprivate static func weightRange(_ random: inout SeededRandom) -> Condition {
        .and([.weight(.greaterOrEqual, -1), .weight(.less, random.one(of: Values.weights) + 1)])
    }

    fileprivate init(_ random: inout SeededRandom, depth: Int) {
        switch random.below(depth > 0 ? 11 : 8) {
        case 0: self = .scoreRange(&random)
        case 1: self = .weight(random.one(of: Operator.allCases), random.one(of: Values.weights))
        case 2: self = .title(random.one(of: Operator.allCases), random.one(of: Values.titles))
        case 3: self = .isDone(random.oneIn(2))
        case 4: self = .group(random.one(of: Operator.allCases), Values.group(&random))
        case 5: self = .due(random.one(of: Operator.allCases), Values.due(&random))
        case 6: self = .scoreIn((0..<random.from(1...5)).map { _ in random.below(Values.scores) })
        case 7:
            self = .titleHas(
                random.one(of: Part.allCases), random.one(of: Values.parts), ignoresCase: random.oneIn(2))
        case 8: self = .and([Condition(&random, depth: depth - 1), Condition(&random, depth: depth - 1)])
        case 9: self = .or([Condition(&random, depth: depth - 1), Condition(&random, depth: depth - 1)])
        default: self = .not(Condition(&random, depth: depth - 1))
        }
    }
}

/// Values of columns. There are few, so that sort keys tie and filters match.
enum Values {
    static let scores = 20
    static let tags = 6
    static let weights = [-1.5, -0.0, 0, 0.25, 0.3, 0.75, 8, .infinity]
    static let titles = [
        "", "a", "a\0", "a\0b", "b", "B", "über", "ÜBER", "ümlaut", "m", "zz", "a longer title than most of them",
        // Large values, which are stored apart from their rows.
        "a large title" + String(repeating: "ü", count: 600), "m" + String(repeating: "m", count: 4_000),
    ]
    static let parts = ["", "a", "b", "ü", "ÜB", "\0", "title", "zzz"]

    static func group(_ random: inout SeededRandom) -> Int? { random.oneIn(4) ? nil : random.below(4) }

    static func due(_ random: inout SeededRandom) -> Date? {
        random.oneIn(3) ? nil : Date(timeIntervalSinceReferenceDate: Double(random.below(6)) - 2)
    }
}
