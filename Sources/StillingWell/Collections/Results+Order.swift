// The first or last objects in the results' order, where nobody has a tree of them: as far as an index or the ids have that order,
// they cost what is asked for; else one pass over the rows keeps them. What was found last is kept until the next delivery or write.
import StillingWellBasis

/// The first rows of an order.
struct FirstFound {
    let rows: [ScannedRow]
    /// How many of them there are was asked for.
    let most: Int
    /// The connection's epoch for which it holds.
    let epoch: Int
}

extension Results {
    /// Who wants more of the first rows is better served by a tree.
    private static var mostFirst: Int { 1_024 }

    /// The first rows in order; nil where it takes a tree to say which these are, or where more are wanted than are worth finding
    /// without one.
    func firstRows(_ wanted: Int) -> [ScannedRow]? {
        guard wanted <= Self.mostFirst, let source = askable else { return nil }
        if let firstFound, firstFound.epoch == connection.epoch, wanted <= firstFound.most { return firstFound.rows }
        if hasTree { return nil }
        let query = RowQuery(asked.filter, table)
        let isShort = asked.limit.map { $0 <= Self.mostFirst } ?? false
        // One pass keeps as many as it may: who asks for the next one would have another one made.
        let most = query.hasOrder(asked.sort) ? wanted : isShort ? asked.limit! : Self.mostFirst
        let end = OrderedEnd(asked.sort, most: Swift.min(most, asked.limit ?? most))
        let found = query.rows(end, in: source)
        connection.noteFailedReads()
        firstFound = FirstFound(rows: found, most: most, epoch: connection.epoch)
        return found
    }

    /// The row at a place of the order, where it is one of the first; nil where a tree has to be asked.
    func firstRow(at position: Int) -> ScannedRow? {
        if let firstFound, firstFound.epoch == connection.epoch, position < firstFound.rows.count {
            return askable == nil ? nil : firstFound.rows[position]
        }
        // Twice as many as the last time: a loop over places finds each row twice at most.
        guard position >= 0, position < Self.mostFirst,
            let found = firstRows(Swift.min(Swift.max(2 * position, 16), Self.mostFirst)), position < found.count
        else { return nil }
        return found[position]
    }

    /// The last object; nil where there is none. As `first`.
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

    /// The first objects, at most so many. O(`maxLength`) where the order is that of an index, of the primary key or of creation;
    /// else as much as the results cost.
    public func prefix(_ maxLength: Int) -> Slice<Results> {
        stopUnless(maxLength >= 0, "there is no prefix of \(maxLength) objects")
        let count = firstRows(maxLength)?.count ?? count
        return Slice(base: self, bounds: 0..<Swift.min(maxLength, count))
    }

    /// The value at one end of a column's index, of the objects that pass; nil where that takes another way.
    func indexedEnd(of column: Int, isLast: Bool) -> ColumnValue?? {
        guard asked.limit == nil, !hasTree, let source = askable,
            let found = RowQuery(asked.filter, table).extreme(of: column, isLargest: isLast, in: source)
        else { return nil }
        connection.noteFailedReads()
        return .some(found.first.map { $0.row(in: source).value(column, table.schema.columns[column]) })
    }
}
