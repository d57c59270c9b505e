// A query in both languages: as live results, and as a plain filter and sort of all rows. Made from a seed.
import Foundation
import LiveStore

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

    func results<Object: StressRow>(_ type: Object.Type, _ connection: Connection) throws -> Results<Object> {
        var results = try connection.objects(type)
        if let condition { results = results.where(condition.filter(type)) }
        if keys.isEmpty { return results }
        return results.sorted(by: keys.map { $0.column.key(type, ascending: $0.ascending) })
    }

    func passes(_ row: RowValue) -> Bool { condition?.passes(row) ?? true }

    /// The query from scratch. `rows` ascend by id, on which ties break.
    func evaluate(_ rows: [RowValue]) -> [RowValue] {
        let passing = condition.map { condition in rows.filter { condition.passes($0) } } ?? rows
        return keys.isEmpty ? passing : passing.sorted { precedes($0, $1) }
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
        return "\(table.rawValue)\(filter)\(keys.isEmpty ? "" : " by \(order)")"
    }
}

extension Query {
    /// Half of the queries have a range on their first key, so that many are windows of one tree.
    init(_ table: TableSize, _ random: inout SeededRandom) {
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
        switch random.below(depth > 0 ? 10 : 7) {
        case 0: self = .scoreRange(&random)
        case 1: self = .weight(random.one(of: Operator.allCases), random.one(of: Values.weights))
        case 2: self = .title(random.one(of: Operator.allCases), random.one(of: Values.titles))
        case 3: self = .isDone(random.oneIn(2))
        case 4: self = .group(random.one(of: Operator.allCases), Values.group(&random))
        case 5: self = .due(random.one(of: Operator.allCases), Values.due(&random))
        case 6: self = .scoreIn((0..<random.from(1...5)).map { _ in random.below(Values.scores) })
        case 7: self = .and([Condition(&random, depth: depth - 1), Condition(&random, depth: depth - 1)])
        case 8: self = .or([Condition(&random, depth: depth - 1), Condition(&random, depth: depth - 1)])
        default: self = .not(Condition(&random, depth: depth - 1))
        }
    }
}

/// The values that columns have: few, so that keys tie and filters hit.
enum Values {
    static let scores = 20
    static let weights = [-1.5, -0.0, 0, 0.25, 0.3, 0.75, 8, .infinity]
    static let titles = ["", "a", "a\0", "a\0b", "b", "über", "ümlaut", "m", "zz", "a longer title than most of them"]

    static func group(_ random: inout SeededRandom) -> Int? { random.oneIn(4) ? nil : random.below(4) }

    static func due(_ random: inout SeededRandom) -> Date? {
        random.oneIn(3) ? nil : Date(timeIntervalSinceReferenceDate: Double(random.below(6)) - 2)
    }
}
