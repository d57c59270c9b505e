// Conditions that a row must all meet, made ready for asking many rows. Comparisons with integers stand apart from the rest:
// walking through expressions counts references, which costs more than comparing does. Immutable; any thread.

struct RowTest: Sendable {
    private struct Comparing {
        let column: Int
        let comparison: Comparison
        let constant: Int
    }

    private var integers: [Comparing] = []
    /// What is left to be asked; nil for nothing.
    private let others: FilterProgram?
    private let needsReach: Bool

    init(_ conditions: Set<FilterExpression>) {
        needsReach = conditions.contains(where: \.needsReach)
        var others: [FilterExpression] = []
        for condition in conditions {
            if case .column(let column, .compare(let comparison, .int(let constant)), isOptional: false) = condition {
                integers.append(Comparing(column: column, comparison: comparison, constant: constant))
            } else {
                others.append(condition)
            }
        }
        self.others = others.isEmpty ? nil : FilterProgram(.and(others))
    }

    /// - Parameter source: where the other rows are read that the conditions ask about.
    @inline(__always)
    func passes(_ row: RowReader, _ id: ObjectID, _ source: (any RowSource)?, _ links: TableLinks?) -> Bool {
        for condition in integers {
            if !condition.comparison.admits(Int._read(row, condition.column), condition.constant) { return false }
        }
        guard let others else { return true }
        let reach = needsReach ? source.map { Reach(source: $0, links: links, id: id) } : nil
        return others.matches(row, reach)
    }
}
