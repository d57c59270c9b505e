// What results answer without a tree: a count, a sum, the rows in order of their ids. Rows are asked where they stand, and no
// object is made. Where somebody has a tree of them already, that is asked.

extension Results {
    /// Where the objects' rows are asked; nil where it takes a tree to say which rows these are.
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

    /// The query, where somebody observes its rows and has been told of them.
    var deliveredQuery: ConnectionQuery? {
        findKnown()
        return known?.deliveredToAnyVariant == nil ? nil : known
    }

    /// The same, as far as these results know.
    var hasOwnTree: Bool {
        guard let known else { return false }
        return known.shown?.epoch == connection.epoch || known.deliveredToAnyVariant != nil
    }

    /// How many there are, if no tree is needed to say so.
    var countedRows: Int? {
        guard let source = askable else { return nil }
        if let counted, counted.epoch == connection.epoch { return counted.count }
        if asked.filter != .all, hasTree { return nil }
        let count = RowQuery(asked.filter, table).count(in: source)
        connection.noteFailedReads()
        counted = (Swift.min(count, asked.limit ?? count), connection.epoch)
        return counted?.count
    }

    /// All rows in order, found as a loop comes to them, where that is the order of their ids. Not amid a write, which may change
    /// what the loop has not come to.
    func scan() -> RowScan? {
        guard asked.sort.isEmpty, asked.limit == nil, !hasTree, let source = askable as? Snapshot else { return nil }
        return RowScan(asked.filter, table, in: source)
    }

    /// All rows in order, where no tree is needed to say so.
    var shownRows: [ScannedRow]? {
        if let limit = asked.limit, let found = firstRows(limit) { return found }
        guard asked.sort.isEmpty, !hasTree, let source = askable else { return nil }
        let end = OrderedEnd([], most: asked.limit ?? .max)
        let found = RowQuery(asked.filter, table).rows(end, in: source)
        connection.noteFailedReads()
        return found
    }

    /// The numbers of a column over the rows where they stand; nil where they have to be found by their ids.
    func scannedSummary(of column: Int) -> MeasureSummary? {
        guard asked.limit == nil, let source = askable else { return nil }
        // With many of them in a tree, one scan costs less than finding each.
        if hasTree, rows.count * Self.findingCost < RowQuery(.all, table).count(in: source) { return nil }
        let summary = RowQuery(asked.filter, table).summary(of: column, in: source)
        connection.noteFailedReads()
        return summary
    }

    /// To find a row by its id costs about as much as a scan's next so many rows.
    private static var findingCost: Int { 6 }

    /// Whether the order's ends are cheaper to find than all rows are to ask.
    var hasOrder: Bool { askable == nil || hasTree }
}
