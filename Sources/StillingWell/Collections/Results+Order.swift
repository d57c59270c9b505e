// The first or last objects of results without a tree. If an index or the ids have the order, rows are read until the
// requested ones are found. Otherwise, or if too many rows in between do not pass, one pass over the rows finds them.
// The first rows are cached until the next delivery or write.
import StillingWellBasis

struct FirstFound {
    let rows: [ScannedRow]
    /// Number of rows requested when these were found.
    let most: Int
    /// The connection's `epoch` when the rows were found. They are valid while it is unchanged.
    let epoch: Int
}

extension Results {
    /// Largest number of first rows worth finding without a tree.
    private static var mostFirst: Int { 1_024 }

    /// Returns at least the first `wanted` rows in order, as far as there are so many. nil if more than `mostFirst` are
    /// wanted, if a tree is needed, or if there is one and no such rows are cached.
    func firstRows(_ wanted: Int) -> [ScannedRow]? {
        guard wanted <= Self.mostFirst, let source = askable else { return nil }
        if let firstFound, firstFound.epoch == connection.epoch, wanted <= firstFound.most { return firstFound.rows }
        if hasTree { return nil }
        let query = RowQuery(asked.filter, table)
        let isShort = asked.limit.map { $0 <= Self.mostFirst } ?? false
        // Without an index, one pass finds as many rows as allowed: otherwise the next call would need another pass.
        let most = query.hasOrder(asked.sort) ? wanted : isShort ? asked.limit! : Self.mostFirst
        let end = OrderedEnd(asked.sort, most: Swift.min(most, asked.limit ?? most))
        let found = query.rows(end, in: source)
        connection.noteFailedReads()
        firstFound = FirstFound(rows: found, most: most, epoch: connection.epoch)
        return found
    }

    /// Returns the row at `position` if it is one of the first rows, or nil if a tree is needed.
    func firstRow(at position: Int) -> ScannedRow? {
        if let firstFound, firstFound.epoch == connection.epoch, position < firstFound.rows.count {
            return askable == nil ? nil : firstFound.rows[position]
        }
        // Doubled each time, so that a loop over n positions searches O(log n) times.
        guard position >= 0, position < Self.mostFirst,
            let found = firstRows(Swift.min(Swift.max(2 * position, 16), Self.mostFirst)), position < found.count
        else { return nil }
        return found[position]
    }

    /// The last object, or nil if there is none. Complexity as `first`; limited results are counted first.
    public var last: Object? {
        if asked.limit == nil, !hasTree, let source = askable {
            let end = OrderedEnd(asked.sort, most: 1, isReversed: true)
            let found = RowQuery(asked.filter, table).rows(end, in: source)
            connection.noteFailedReads()
            return found.first.map { connection.makeObject(table, $0, connection.foundEpoch) }
        }
        let count = count
        return count == 0 ? nil : self[count - 1]
    }

    /// Returns the first objects, at most `maxLength`. Up to 1,024 are found as `first` finds one. For a greater
    /// `maxLength` the objects are counted.
    public func prefix(_ maxLength: Int) -> Slice<Results> {
        stopUnless(maxLength >= 0, "there is no prefix of \(maxLength) objects")
        let count = firstRows(maxLength)?.count ?? count
        return Slice(base: self, bounds: 0..<Swift.min(maxLength, count))
    }

    /// Returns the value at one end of a column's index among the objects that pass. The outer optional is nil if the
    /// index cannot answer, the inner one if no such object has a value.
    func indexedEnd(of column: Int, isLast: Bool) -> ColumnValue?? {
        guard asked.limit == nil, !hasTree, let source = askable,
            let found = RowQuery(asked.filter, table).extreme(of: column, isLargest: isLast, in: source)
        else { return nil }
        connection.noteFailedReads()
        return .some(found.first.map { $0.row(in: source).value(column, table.schema.columns[column]) })
    }
}
