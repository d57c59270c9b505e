// Reads the final state in three ways (the store's evaluation of queries, the live collections, the whole table) and
// compares it with the model row by row. The numbers of rows and queries are limited; the first query and the first
// observer are always compared.
import TidegaugeDriver

struct Convergence {
    /// Maximum number of rows compared in one trial, unless the first query and observer have more.
    private static let rowBudget = 1_000_000
    /// Maximum number of queries that are evaluated, because evaluating one may scan the whole table.
    private static let evaluationBudget = 16

    private let history: History
    private let plan: QueryAssignment
    private var evaluated: Set<Int> = []
    private var comparedCollections = 0
    private(set) var rowsCompared = 0
    private var whole: WholeRowCheck

    init(_ history: History, _ plan: QueryAssignment, _ shape: RowShape) {
        (self.history, self.plan, whole) = (history, plan, WholeRowCheck(shape))
    }

    /// - Parameter rows: the model's final state of `query`.
    mutating func check(
        _ query: Int, _ rows: OrderedRows, _ observers: [Observer], _ store: any DrivenStore, _ group: ObserverGroup
    ) throws -> [String] {
        var violations: [String] = []
        let order = plan.queries[query].order
        lazy var expected = rows.rows.map { row in
            let model = history.table[row.key]
            return Item(key: row.key, group: history.table.group(of: row.key), score: model.score, stamp: model.stamp)
        }
        let isEvaluated = evaluated.count < Self.evaluationBudget && !evaluated.contains(query)
        if isEvaluated, hasBudget(rows.count, first: evaluated.isEmpty) {
            evaluated.insert(query)
            rowsCompared += rows.count
            let found = try store.contents(of: plan.queries[query])
            if let difference = Self.difference(expected, found, order, store) {
                violations.append("convergence: the store's evaluation of query \(query) is wrong: \(difference)")
            } else {
                violations += try wholeRows("query \(query)", plan.queries[query], found.count, store)
            }
        }
        for observer in observers where hasBudget(rows.count, first: comparedCollections == 0) {
            comparedCollections += 1
            rowsCompared += rows.count
            let shown = try group.currentItems(of: observer)
            if let difference = Self.difference(expected, shown, order, store) {
                violations.append("convergence: the live collection of \(observer.name) is wrong: \(difference)")
            } else {
                violations += try whole.violations("the live collection of \(observer.name)", count: shown.count) {
                    $0 = try group.wholeRows(of: observer, $0)
                }
            }
        }
        return violations
    }

    /// Checks that the final table contains every acknowledged commit, unless it has too many rows.
    mutating func checkTable(_ store: any DrivenStore) throws -> [String] {
        let expected = history.table.items()
        guard hasBudget(expected.count, first: false) else { return [] }
        rowsCompared += expected.count
        let difference = Self.difference(expected, try store.contents(of: Query()), .none, store)
        if let difference { return ["nothing lost: the final table is wrong: \(difference)"] }
        return try wholeRows("the final table", Query(), expected.count, store)
    }

    private mutating func wholeRows(
        _ what: String, _ query: Query, _ count: Int, _ store: any DrivenStore
    ) throws -> [String] {
        try whole.violations(what, count: count) { seen in
            try store.conforming(to: (any WholeRowStore).self).forEachRow(of: query) { seen.look(at: $0) }
        }
    }

    private func hasBudget(_ rows: Int, first: Bool) -> Bool { first || rowsCompared + rows <= Self.rowBudget }

    /// Describes the first row that differs, with the numbers that the store's engine has; nil if there is none.
    /// Unordered rows are compared by key.
    static func difference(
        _ expected: [Item], _ found: [Item], _ order: Query.Order, _ store: any DrivenStore
    ) -> String? {
        let isOrdered = order != .none
        let expected = isOrdered ? expected : expected.sorted { $0.key < $1.key }
        let found = isOrdered ? found : found.sorted { $0.key < $1.key }
        for index in 0..<max(expected.count, found.count) {
            let model = index < expected.count ? expected[index] : nil
            let shown = index < found.count ? found[index] : nil
            guard model != shown else { continue }
            return "row \(index) is \(describe(shown, store)), should be \(describe(model, store)) "
                + "([key, group, score, stamp]; \(found.count) rows, should be \(expected.count))"
        }
        return nil
    }

    private static func describe(_ item: Item?, _ store: any DrivenStore) -> String {
        guard let item else { return "missing" }
        let row = (store as? any RenumberedStore)?.engineRow(item) ?? item
        return "[\(row.key), \(row.group), \(row.score), \(row.stamp)]"
    }
}
