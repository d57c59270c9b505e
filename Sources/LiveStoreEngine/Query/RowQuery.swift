// A filter asked of rows there and then, for who wants a number, or rows in the order of their ids: no tree is built. Rows
// come from the primary key or an index where one leads to few, else from one scan.

import RankedTree

package struct RowQuery {
    let table: Table
    let conditions: [FilterExpression]

    package init(_ filter: FilterExpression, _ table: Table) {
        self.table = table
        conditions = filter.normalized.conjuncts
    }

    /// How many rows pass. What cannot be read is kept by the source.
    package func count(in source: any RowSource) -> Int {
        if let count = IndexAccess.count(conditions, table, source) { return count }
        let (test, links) = (RowTest(conditions), table.links)
        var count = 0
        forEachRun(in: source) { rows, source in
            count += test.count(rows, source, links)
            return true
        }
        return count
    }

    /// Adds up a column of the rows that pass.
    package func summary(of column: Int, in source: any RowSource) -> MeasureSummary {
        let (test, links) = (RowTest(conditions), table.links)
        var sum = ColumnSum(column, of: table.schema)
        forEachRun(in: source) { rows, source in
            if test.isEmpty {
                sum.add(rows, source)
            } else {
                for found in rows where test.passes(found.row(in: source), found.id, source, links) {
                    sum.add(found.row(in: source))
                }
            }
            return true
        }
        return sum.summary
    }

    /// Visits the rows that pass, ascending by id, until `body` returns false. `body` must not read through the source, nor
    /// change anything. What cannot be read is kept by the source.
    package func forEach(in source: any RowSource, _ body: (ScannedRow) -> Bool) {
        let (test, links) = (RowTest(conditions), table.links)
        forEachRun(in: source) { rows, source in
            for found in rows where test.passes(found.row(in: source), found.id, source, links) && !body(found) {
                return false
            }
            return true
        }
    }

    /// Visits the rows that may pass, some at once, in the order of their ids.
    private func forEachRun(
        in source: any RowSource, _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool
    ) {
        if conditions.contains(.none) { return }
        forEachRun(in: source, IndexAccess.candidates(conditions, table, source), body)
    }

    /// Visits some rows, or all.
    func forEachRun(
        in source: any RowSource, _ ids: [ObjectID]?,
        _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool
    ) {
        guard let ids else { return source.scanRuns(table, body) }
        for id in ids {
            guard let row = source.row(table, id) else { continue }
            let isMore = withUnsafePointer(to: ScannedRow(id: id, row)) {
                body(UnsafeBufferPointer(start: $0, count: 1), source)
            }
            if !isMore { return }
        }
    }
}

/// Adds up a column, row by row; of an optional one, those that have a value.
package struct ColumnSum {
    private let column: Int
    private let isOptional: Bool
    private let isInt: Bool
    private var integers = IntegerSummary()
    private var doubles = DoubleSummary()

    package init(_ column: Int, of schema: TableSchema) {
        self.column = column
        isOptional = schema.columns[column].isOptional
        isInt = schema.columns[column].type == .int
    }

    @inline(__always)
    package mutating func add(_ row: RowReader) {
        // A row older than the column has the zero that its property reads; an optional one has none.
        if isOptional, row.isNull(column) { return }
        if isInt { integers.add(Int._read(row, column)) } else { doubles.add(Double._read(row, column)) }
    }

    /// As each of them: what kind of number it is, is asked once.
    mutating func add(_ rows: UnsafeBufferPointer<ScannedRow>, _ source: any RowSource) {
        guard isInt, !isOptional else {
            for found in rows { add(found.row(in: source)) }
            return
        }
        // A copy, which stays in registers.
        var sum = integers
        for found in rows { sum.add(Int._read(found.row(in: source), column)) }
        integers = sum
    }

    package var summary: MeasureSummary { isInt ? .integers(integers) : .doubles(doubles) }
}
