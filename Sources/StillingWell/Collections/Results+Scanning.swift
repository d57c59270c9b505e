// Answers that results give without a tree, by scanning rows: counts, aggregates, rows in order of their ids. No
// objects are made.

extension Results {
    /// Source whose rows can be scanned, or nil if a tree is needed.
    var askable: (any RowSource)? {
        guard asked.list == nil, asked.distinct.isEmpty, asked.fault == nil else { return nil }
        connection.checkPlace()
        return connection.wholeSource
    }

    var hasTree: Bool {
        findKnown()
        return hasOwnTree
    }

    private func findKnown() { if known == nil { known = connection.queries.known(plan(section: nil)) } }

    /// The query, if its rows were delivered to an observer.
    var deliveredQuery: ConnectionQuery? {
        findKnown()
        return known?.deliveredToAnyVariant == nil ? nil : known
    }

    /// Whether a tree of these rows exists, as far as these results have looked it up.
    var hasOwnTree: Bool {
        guard let known else { return false }
        return known.shown?.epoch == connection.epoch || known.deliveredToAnyVariant != nil
    }

    /// Number of objects, or nil if a tree has to be asked.
    var countedRows: Int? {
        guard let source = askable else { return nil }
        if let counted, counted.epoch == connection.epoch { return counted.count }
        if asked.filter != .all, hasTree { return nil }
        let count = RowQuery(asked.filter, table).count(in: source)
        connection.noteFailedReads()
        counted = (Swift.min(count, asked.limit ?? count), connection.epoch)
        return counted?.count
    }

    /// Returns an incremental scan of the passing rows if they are in the order of ids, without a limit and without a
    /// tree. nil during a write, which may change rows that the loop has not reached.
    func scan() -> RowScan? {
        guard asked.sort.isEmpty, asked.limit == nil, !hasTree, let source = askable as? Snapshot else { return nil }
        return RowScan(asked.filter, table, in: source)
    }

    /// All rows in order. nil if a tree is needed, or if there is one and the rows are not cached as the first ones.
    var shownRows: [ScannedRow]? {
        if let limit = asked.limit, let found = firstRows(limit) { return found }
        guard asked.sort.isEmpty, !hasTree, let source = askable else { return nil }
        let end = OrderedEnd([], most: asked.limit ?? .max)
        let found = RowQuery(asked.filter, table).rows(end, in: source)
        connection.noteFailedReads()
        return found
    }

    /// Returns the aggregates of a column by scanning rows, or nil if the rows should be found by id.
    func scannedSummary(of column: Int) -> MeasureSummary? {
        guard asked.limit == nil, let source = askable else { return nil }
        // If the tree holds at least a sixth of the table's rows, one scan costs less than finding each row.
        if hasTree, rows.count * Self.findingCost < RowQuery(.all, table).count(in: source) { return nil }
        let summary = RowQuery(asked.filter, table).summary(of: column, in: source)
        connection.noteFailedReads()
        return summary
    }

    /// Cost of finding a row by id, in rows of a scan.
    private static var findingCost: Int { 6 }

    /// Whether there is a tree or one has to be made. The ends of its order are then found in it.
    var hasOrder: Bool { askable == nil || hasTree }
}
