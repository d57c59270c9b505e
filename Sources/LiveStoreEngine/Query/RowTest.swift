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

        @inline(__always)
        func passes(_ row: RowReader) -> Bool {
            let slot = Int._read(row, column)
            return comparison.admits(isBool ? (slot == 0 ? 0 : 1) : slot, constant)
        }
    }

    private struct Testing {
        let column: Int
        let test: ColumnTest
        let isOptional: Bool
    }

    /// All that is asked, where that is one comparison: as often, and walking through an array of one takes three times as long.
    private var sole: Comparing?
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
        if integers.count == 1, columns.isEmpty, others.isEmpty { sole = integers[0] }
    }

    /// Whether every row passes.
    var isEmpty: Bool { integers.isEmpty && columns.isEmpty && others == nil }

    /// How many of some rows pass.
    func count(_ rows: UnsafeBufferPointer<ScannedRow>, _ source: any RowSource, _ links: TableLinks?) -> Int {
        if isEmpty { return rows.count }
        var count = 0
        if let sole {
            for found in rows where sole.passes(found.row(in: source)) { count += 1 }
        } else if columns.count == 1, integers.isEmpty, others == nil, case .text(let pattern) = columns[0].test {
            let (column, isOptional) = (columns[0].column, columns[0].isOptional)
            count = pattern.count(rows.count) { index in
                let row = rows[index].row(in: source)
                return isOptional && row.isNull(column) ? nil : row.bytes(column)
            }
        } else {
            for found in rows where passes(found.row(in: source), found.id, source, links) { count += 1 }
        }
        return count
    }

    /// - Parameter source: where the other rows are read that the conditions ask about.
    @inline(__always)
    func passes(_ row: RowReader, _ id: ObjectID, _ source: (any RowSource)?, _ links: TableLinks?) -> Bool {
        if let sole { return sole.passes(row) }
        for condition in integers where !condition.passes(row) { return false }
        for condition in columns
        where !condition.test.passes(row, condition.column, isOptional: condition.isOptional) { return false }
        guard let others else { return true }
        let reach = needsReach ? source.map { Reach(source: $0, links: links, id: id) } : nil
        return others.matches(row, reach)
    }
}
