// The first or last rows of a query in its order, for who wants no more of them: by the order of an index, of the primary key or of
// the ids, which is as long a way as what is wanted; else by one pass over the rows, which keeps as many as are wanted. No tree is
// built.

import StillingWellTree

/// How many rows of an order are wanted, and from which end.
struct OrderedEnd {
    let sort: [SortTerm]
    let most: Int
    /// The last rows instead of the first, the very last first.
    let isReversed: Bool

    init(_ sort: [SortTerm], most: Int, isReversed: Bool = false) {
        (self.sort, self.most, self.isReversed) = (sort, most, isReversed)
    }

    /// Whether small values come first.
    fileprivate var ascends: Bool { (sort.first?.ascending ?? true) != isReversed }
}

extension RowQuery {
    /// Of all rows, so many are looked at one by one: more of them a pass over all rows finds as quickly.
    private static let smallPart = 8
    private static let few = 1_024

    /// The rows at one end of an order. What cannot be read is kept by the source.
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

    /// Whether an order stands in the file, so that few of its rows are found quickly.
    func hasOrder(_ sort: [SortTerm]) -> Bool { sort.isEmpty || index(OrderedEnd(sort, most: 1)) != nil }

    private func index(_ end: OrderedEnd) -> ColumnIndex? {
        guard let term = end.sort.first, term.over == nil else { return nil }
        return table.index(term.column)
    }

    /// The row with the smallest or largest value of a column, by the column's index: none where no row has one, nil where the
    /// index cannot tell.
    func extreme(of column: Int, isLargest: Bool, in source: any RowSource) -> [ScannedRow]? {
        guard let index = table.index(column) else { return nil }
        if conditions.contains(.none) { return [] }
        var range = IndexRange(index, conditions)
        range.narrow(toNumbersOf: table.schema.columns[column])
        let end = OrderedEnd([SortTerm(column: column, ascending: true)], most: 1, isReversed: isLargest)
        return walk(end, range, in: source)
    }

    private func orderedRows(_ end: OrderedEnd, _ range: IndexRange, in source: any RowSource) -> [ScannedRow]? {
        // Null is in no index. Where it comes first, or where the index ends before enough is found, all rows are asked.
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

    /// - Returns: nil where the way along the index is too long.
    private func walk(_ end: OrderedEnd, _ range: IndexRange, in source: any RowSource) -> [ScannedRow]? {
        let direction = IndexDirection(keysAscend: end.ascends, idsAscend: !end.isReversed)
        let (test, links) = (RowTest(conditions), table.links)
        var found: [ScannedRow] = []
        // The rows of one key, where that does not say all about their order.
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

    /// The first rows in the order of their ids.
    private func firstRows(_ most: Int, in source: any RowSource) -> [ScannedRow] {
        var found: [ScannedRow] = []
        forEach(in: source) { row in
            found.append(row)
            return found.count < most
        }
        return found
    }

    /// The last rows in the order of their ids, the very last first; nil where that is not the order, or the way to them is too long.
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

/// The part of an index that a filter's conditions lead to.
private struct IndexRange {
    let index: ColumnIndex
    private(set) var low: [UInt8]?
    private(set) var high: [UInt8]?
    /// Conditions that say nothing of where in the index a row is.
    let others: [FilterExpression]
    var isBounded: Bool { low != nil || high != nil }

    init(_ index: ColumnIndex, _ conditions: [FilterExpression]) {
        self.index = index
        var bounds = WindowBounds(index: index.column)
        others = conditions.filter { !bounds.take($0) }
        (low, high) = (bounds.lower, bounds.upper)
    }

    /// Leaves out what is in no order: not a number, which lies beyond both infinities.
    mutating func narrow(toNumbersOf column: ColumnSchema) {
        var column = column
        column.isOptional = false
        let numbers = SortKeyBytes.ordered(column, ascending: true)
        if low?.lexicographicallyPrecedes(numbers.lower) ?? true { low = numbers.lower }
        guard let end = numbers.upper else { return }
        if high.map({ end.lexicographicallyPrecedes($0) }) ?? true { high = end }
    }
}
