// Direct evaluation of a filter for a number, or for rows in the order of their ids, without building a tree. Rows come
// from the primary key or an index where possible, else from one scan.

import StillingWellTree

struct RowQuery {
    let table: Table
    let conditions: [FilterExpression]

    init(_ filter: FilterExpression, _ table: Table) {
        self.table = table
        conditions = filter.normalized.conjuncts
    }

    /// Number of passing rows. The source keeps failures to read.
    func count(in source: any RowSource) -> Int {
        if let count = IndexAccess.count(conditions, table, source) { return count }
        let (test, links) = (RowTest(conditions), table.links)
        var count = 0
        forEachRun(in: source) { page, source in
            guard let more = test.count(page, source) else { return false }
            count += more
            return true
        } _: { rows, source in
            count += test.count(rows, source, links)
            return true
        }
        return count
    }

    /// Aggregates a column of the passing rows.
    func summary(of column: Int, in source: any RowSource) -> MeasureSummary {
        let (test, links) = (RowTest(conditions), table.links)
        var sum = ColumnSum(column, of: table.schema)
        forEachRun(in: source) { page, _ in
            test.isEmpty && sum.add(page)
        } _: { rows, source in
            if test.isEmpty {
                sum.add(rows, source)
            } else {
                let values = source.largeValues
                for found in rows where test.passes(found.row(values), found.id, source, links) {
                    sum.add(found.row(values))
                }
            }
            return true
        }
        return sum.summary
    }

    /// Visits the passing rows, ascending by id, until `body` returns false. `body` must not read through the source or
    /// change anything. The source keeps failures to read.
    func forEach(in source: any RowSource, _ body: (ScannedRow) -> Bool) {
        let (test, links) = (RowTest(conditions), table.links)
        forEachRun(in: source) { rows, source in
            let values = source.largeValues
            for found in rows where test.passes(found.row(values), found.id, source, links) && !body(found) {
                return false
            }
            return true
        }
    }

    /// Visits the rows that may pass, in runs, in the order of their ids.
    /// - Parameter take: processes a whole page in place of `body`. Returns false if it cannot.
    private func forEachRun(
        in source: any RowSource, taking take: (MappedPage, Snapshot) -> Bool = { _, _ in false },
        _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool
    ) {
        if conditions.contains(.none) { return }
        let candidates = IndexAccess.candidates(conditions, table, source)
        if candidates == nil, let snapshot = source as? Snapshot {
            return snapshot.scanPages(table, taking: { take($0, snapshot) }, body)
        }
        forEachRun(in: source, candidates, body)
    }

    /// Visits the rows with these ids, or all rows.
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

/// Sum and extremes of a column, row by row. Null values are skipped.
struct ColumnSum {
    private let column: Int
    private let isOptional: Bool
    private let isInt: Bool
    private var integers = IntegerSummary()
    private var doubles = DoubleSummary()

    init(_ column: Int, of schema: TableSchema) {
        self.column = column
        isOptional = schema.columns[column].isOptional
        isInt = schema.columns[column].type == .int
    }

    @inline(__always)
    mutating func add(_ row: RowReader) {
        // A row older than the column has the column's zero, or no value if it is optional.
        if isOptional, row.isNull(column) { return }
        if isInt { integers.add(Int._read(row, column)) } else { doubles.add(Double._read(row, column)) }
    }

    /// Adds the rows of a page. Returns false, with none added, if they have to be added one by one.
    mutating func add(_ page: MappedPage) -> Bool {
        guard isInt, !isOptional else { return false }
        let column = column
        var (sum, isBeyond) = (0, false)
        var (smallest, largest) = (Int.max, Int.min)
        let isPlain = page.forEachPlainRow { base, _ in
            let value = Int(bitPattern: UInt(RowReader.slot(column, at: base)))
            let (next, overflows) = sum.addingReportingOverflow(value)
            sum = next
            if overflows { isBeyond = true }
            smallest = min(smallest, value)
            largest = max(largest, value)
        }
        guard isPlain, !isBeyond else { return false }
        integers.add(sum, of: page.count, from: smallest, to: largest)
        return true
    }

    /// Adds rows. Their type is checked once.
    mutating func add(_ rows: UnsafeBufferPointer<ScannedRow>, _ source: any RowSource) {
        let values = source.largeValues
        guard isInt, !isOptional else {
            for found in rows { add(found.row(values)) }
            return
        }
        // A local copy, which stays in registers.
        var sum = integers
        for found in rows { sum.add(Int._read(found.row(values), column)) }
        integers = sum
    }

    var summary: MeasureSummary { isInt ? .integers(integers) : .doubles(doubles) }
}
