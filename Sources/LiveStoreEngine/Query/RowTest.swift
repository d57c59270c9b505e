// Conditions that a row must all meet, made ready for asking many rows. Comparisons with integers stand apart from the rest,
// and what is asked of a column from what is made of others: walking through expressions counts references, which costs
// more than comparing does. Immutable; any thread.

struct RowTest: Sendable {
    private struct Comparing {
        let column: Int
        let comparison: Comparison
        let constant: Int
        /// Every slot but 0 is 1.
        let isBool: Bool
    }

    private struct Testing {
        let column: Int
        let test: ColumnTest
        let isOptional: Bool
    }

    private var integers: [Comparing] = []
    private var columns: [Testing] = []
    /// What is left to be asked; nil for nothing.
    private let others: FilterProgram?
    private let needsReach: Bool

    init(_ conditions: some Collection<FilterExpression>) {
        needsReach = conditions.contains(where: \.needsReach)
        var others: [FilterExpression] = []
        for condition in conditions {
            switch condition {
            case .column(let column, .compare(let comparison, .int(let constant)), isOptional: false):
                integers.append(
                    Comparing(column: column, comparison: comparison, constant: constant, isBool: false))
            case .column(let column, .compare(let comparison, .bool(let constant)), isOptional: false):
                integers.append(
                    Comparing(column: column, comparison: comparison, constant: constant ? 1 : 0, isBool: true))
            case .column(let column, let test, let isOptional):
                columns.append(Testing(column: column, test: test, isOptional: isOptional))
            case .all, .none, .identity, .aggregate, .node: others.append(condition)
            }
        }
        self.others = others.isEmpty ? nil : FilterProgram(.and(others))
    }

    /// - Parameter source: where the other rows are read that the conditions ask about.
    @inline(__always)
    func passes(_ row: RowReader, _ id: ObjectID, _ source: (any RowSource)?, _ links: TableLinks?) -> Bool {
        for condition in integers {
            let slot = Int._read(row, condition.column)
            let value = condition.isBool ? (slot == 0 ? 0 : 1) : slot
            if !condition.comparison.admits(value, condition.constant) { return false }
        }
        for condition in columns
        where !condition.test.passes(row, condition.column, isOptional: condition.isOptional) { return false }
        guard let others else { return true }
        let reach = needsReach ? source.map { Reach(source: $0, links: links, id: id) } : nil
        return others.matches(row, reach)
    }
}
