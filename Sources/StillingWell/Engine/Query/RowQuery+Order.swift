// The first or last rows of a query in its order, without building a tree. They are read by the order of an index, of
// the primary key or of ids. If too many other rows lie between them, one pass over the rows keeps the wanted number.

import StillingWellTree

/// Number of wanted rows of an order, and the end they are taken from.
struct OrderedEnd {
    let sort: [SortTerm]
    let most: Int
    /// Whether the last rows are wanted, the very last first.
    let isReversed: Bool

    init(_ sort: [SortTerm], most: Int, isReversed: Bool = false) {
        (self.sort, self.most, self.isReversed) = (sort, most, isReversed)
    }

    /// Whether small values come first.
    fileprivate var ascends: Bool { (sort.first?.ascending ?? true) != isReversed }
}

extension RowQuery {
    /// Part of all rows, 1/8 but at least `few`, up to which rows are read one by one. Beyond it a pass over all rows
    /// is as fast.
    private static let smallPart = 8
    private static let few = 1_024

    /// Rows at one end of an order. The source keeps failures to read.
    func rows(_ end: OrderedEnd, in source: any RowSource) -> [ScannedRow] {
        if end.most == 0 || conditions.contains(.none) { return [] }
        if end.sort.isEmpty, !end.isReversed { return firstRows(end.most, in: source) }
        let range = index(end).map { IndexRange($0, conditions) }
        let others = range?.others ?? conditions
        let candidates = others.isEmpty ? nil : IndexAccess.candidates(others, table, source)
        if candidates == nil {
            let found = range.map { orderedRows(end, $0, in: source) } ?? lastRows(end, in: source)
            if let found { return found }
        }
        var first = FirstRows(end, table)
        let (test, links) = (RowTest(conditions), table.links)
        forEachRun(in: source, candidates ?? IndexAccess.candidates(conditions, table, source)) { rows, source in
            let values = source.largeValues
            for row in rows where test.passes(row.row(values), row.id, source, links) { first.add(row, source, links) }
            return true
        }
        return first.take()
    }

    /// Whether the order is that of ids or begins with an indexed column, so that a few of its rows are found quickly.
    func hasOrder(_ sort: [SortTerm]) -> Bool { sort.isEmpty || index(OrderedEnd(sort, most: 1)) != nil }

    private func index(_ end: OrderedEnd) -> ColumnIndex? {
        guard let term = end.sort.first, term.over == nil else { return nil }
        return table.index(term.column)
    }

    /// Passing row with the smallest or largest value of a column. Empty if no passing row has a value. Nil without an
    /// index, or if too many entries would have to be read.
    func extreme(of column: Int, isLargest: Bool, in source: any RowSource) -> [ScannedRow]? {
        guard let index = table.index(column) else { return nil }
        if conditions.contains(.none) { return [] }
        var range = IndexRange(index, conditions)
        range.narrow(toNumbersOf: table.schema.columns[column])
        let end = OrderedEnd([SortTerm(column: column, ascending: true)], most: 1, isReversed: isLargest)
        return walk(end, range, in: source)
    }

    private func orderedRows(_ end: OrderedEnd, _ range: IndexRange, in source: any RowSource) -> [ScannedRow]? {
        // Null is not in an index. If nulls come first, or the index ends too early, all rows have to be tested.
        let hasNulls =
            range.index.isOptional && !range.isBounded
            && source.reading(or: true) { (transaction) throws(EngineFailure) in
                try LMDB.count(transaction, range.index.handle) < table.rowCount(transaction)
            }
        if hasNulls, end.ascends { return nil }
        let hasOthers =
            !range.isBounded
            && source.reading(or: true) { (transaction) throws(EngineFailure) in
                try range.index.hasValuesInNoOrder(transaction)
            }
        if hasOthers { return nil }
        guard let found = walk(end, range, in: source) else { return nil }
        return hasNulls && found.count < end.most ? nil : found
    }

    /// - Returns: nil if too many index entries would have to be read.
    private func walk(_ end: OrderedEnd, _ range: IndexRange, in source: any RowSource) -> [ScannedRow]? {
        let direction = IndexDirection(keysAscend: end.ascends, idsAscend: !end.isReversed)
        let (test, links) = (RowTest(conditions), table.links)
        var found: [ScannedRow] = []
        // Rows of one key, if the key alone does not define their order.
        var alike = FirstRows(end, table)
        var isCounted = true
        source.readingRows { (transaction, source) throws(EngineFailure) in
            var left = max(Self.few, try table.rowCount(transaction) / Self.smallPart)
            try range.index.walk(transaction, from: range.low, below: range.high, direction) { key, id, isNext in
                if isNext {
                    found += alike.take()
                    if found.count >= end.most { return false }
                }
                left -= 1
                isCounted = left >= 0
                guard isCounted else { return false }
                guard let row = source.row(table, id), test.passes(row, id, source, links) else { return true }
                let scanned = ScannedRow(id: id, row)
                if end.sort.count > 1 || ColumnIndex.isCut(key) {
                    alike.add(scanned, source, links)
                    return true
                }
                found.append(scanned)
                return found.count < end.most
            }
        }
        found += alike.take()
        return isCounted ? Array(found.prefix(end.most)) : nil
    }

    /// First rows in the order of their ids.
    private func firstRows(_ most: Int, in source: any RowSource) -> [ScannedRow] {
        var found: [ScannedRow] = []
        forEach(in: source) { row in
            found.append(row)
            return found.count < most
        }
        return found
    }

    /// Last rows in the order of their ids, the very last first. Nil for another order, or if too many would be read.
    private func lastRows(_ end: OrderedEnd, in source: any RowSource) -> [ScannedRow]? {
        guard end.sort.isEmpty else { return nil }
        var found: [ScannedRow] = []
        let (test, links) = (RowTest(conditions), table.links)
        var isCounted = true
        source.readingRows { (transaction, source) throws(EngineFailure) in
            var left = max(Self.few, try table.rowCount(transaction) / Self.smallPart)
            try LMDB.scanBack(transaction, table.rows) { (id, bytes) throws(EngineFailure) in
                left -= 1
                isCounted = left >= 0
                guard isCounted else { return false }
                let row = try table.row(bytes, id, at: source.version, source.largeValues)
                if test.passes(row, ObjectID(rawValue: id), source, links) {
                    found.append(ScannedRow(id: ObjectID(rawValue: id), row))
                }
                return found.count < end.most
            }
        }
        return isCounted ? found : nil
    }
}

/// Part of an index that the conditions of a filter select.
private struct IndexRange {
    let index: ColumnIndex
    private(set) var low: [UInt8]?
    private(set) var high: [UInt8]?
    /// Conditions that do not restrict the range.
    let others: [FilterExpression]
    var isBounded: Bool { low != nil || high != nil }

    init(_ index: ColumnIndex, _ conditions: [FilterExpression]) {
        self.index = index
        var bounds = WindowBounds(index: index.column)
        others = conditions.filter { !bounds.take($0) }
        (low, high) = (bounds.lower, bounds.upper)
    }

    /// Leaves out NaN, which lies beyond both infinities.
    mutating func narrow(toNumbersOf column: ColumnSchema) {
        var column = column
        column.isOptional = false
        let numbers = SortKeyBytes.ordered(column, ascending: true)
        if low?.lexicographicallyPrecedes(numbers.lower) ?? true { low = numbers.lower }
        guard let end = numbers.upper else { return }
        if high.map({ end.lexicographicallyPrecedes($0) }) ?? true { high = end }
    }
}
