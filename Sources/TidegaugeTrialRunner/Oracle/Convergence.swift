// The final state, read back three ways (the store's own evaluation of each query, the live collections, the whole
// table) and compared with the model row by row. Reading is bounded, because a thousand queries over a million rows
// would take longer than the trial: every query and every observer is compared as far as the budget goes, the first ones
// in any case.
import TidegaugeDriver

struct Convergence {
    /// Rows read back and compared in one trial, beyond which only counts of what was skipped grow.
    private static let rowBudget = 1_000_000
    /// Evaluating a query from scratch may scan the whole table, however few rows it finds.
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

    /// - Parameter rows: the final state of `query` in the model.
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
            if let difference = Self.difference(expected, found, order) {
                violations.append("convergence: the store's evaluation of query \(query) is wrong: \(difference)")
            } else {
                violations += try wholeRows("query \(query)", plan.queries[query], found.count, store)
            }
        }
        for observer in observers where hasBudget(rows.count, first: comparedCollections == 0) {
            comparedCollections += 1
            rowsCompared += rows.count
            let shown = try group.currentItems(of: observer)
            if let difference = Self.difference(expected, shown, order) {
                violations.append("convergence: the live collection of \(observer.name) is wrong: \(difference)")
            } else {
                violations += try whole.violations("the live collection of \(observer.name)", count: shown.count) {
                    $0 = try group.wholeRows(of: observer, $0)
                }
            }
        }
        return violations
    }

    /// Whether every acknowledged commit is in the final table.
    mutating func checkTable(_ store: any DrivenStore) throws -> [String] {
        let expected = history.table.items()
        guard hasBudget(expected.count, first: false) else { return [] }
        rowsCompared += expected.count
        let difference = Self.difference(expected, try store.contents(of: Query()), .none)
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

    /// The first row that differs, in a sentence. Without an order, rows are compared by key.
    static func difference(_ expected: [Item], _ found: [Item], _ order: Query.Order) -> String? {
        let isOrdered = order != .none
        let expected = isOrdered ? expected : expected.sorted { $0.key < $1.key }
        let found = isOrdered ? found : found.sorted { $0.key < $1.key }
        for index in 0..<max(expected.count, found.count) {
            let model = index < expected.count ? expected[index] : nil
            let store = index < found.count ? found[index] : nil
            guard model != store else { continue }
            return "row \(index) is \(describe(store)), should be \(describe(model)) "
                + "(\(found.count) rows, should be \(expected.count))"
        }
        return nil
    }

    private static func describe(_ item: Item?) -> String {
        item.map { "key \($0.key) score \($0.score) stamp \($0.stamp)" } ?? "missing"
    }
}
