// What results answer without a tree: a count, a sum, the rows in order of their ids. Rows are asked where they stand, and no
// object is made. Where somebody has a tree of them already, that is asked.

extension Results {
    /// Where the objects' rows are asked; nil where it takes a tree to say which rows these are.
    private var askable: (any RowSource)? {
        guard asked.list == nil, asked.distinct.isEmpty, asked.fault == nil else { return nil }
        connection.checkScheduler()
        return connection.wholeSource
    }

    private var hasTree: Bool {
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

    /// The first rows in order, where that is the order of their ids.
    func scannedRows(atMost most: Int = .max) -> [FoundRow]? {
        guard asked.sort.isEmpty, !hasTree, let source = askable else { return nil }
        let most = Swift.min(most, asked.limit ?? most)
        if most == 0 { return [] }
        let epoch = connection.transaction == nil ? connection.rowEpoch : nil
        var found: [FoundRow] = []
        RowQuery(asked.filter, table).forEach(in: source) { id, row in
            found.append(FoundRow(id: id, row: row, epoch: epoch))
            return found.count < most
        }
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
