// Trees that know the sums and extremes of columns that observers ask for. Somebody's first request is answered from the
// rows; meanwhile a tree with the values is made of the one there is, off the upkeep thread, and takes its place. It goes on
// knowing them until the last observer that has asked is gone. Upkeep thread only.
//
// Only columns whose changes the tree's observers hear of (`ConnectionQuery.toMeasure`): a row that is written elsewhere
// brings no new root, and what a root knows has to be what its version has.

extension Upkeep {
    /// A connection has asked a query for numbers about a column.
    func measure(_ query: QueryHandle, _ attachment: Int, _ column: Int) {
        guard let (live, tree) = live(query),
            let asking = live.subscriptions.first(where: { $0.query === query && $0.attachment == attachment })
        else { return }
        let bit = UInt64(1) << UInt64(column)
        asking.measured |= bit
        // Another of its queries may have asked before, and this one have a root from before that.
        guard let known = tree.tree?.measures.columns, known & bit != 0 else { return measure(tree) }
        publish(tree, live)
    }

    /// Has a tree made that knows what its observers ask for, unless this one does.
    func measure(_ tree: SharedTree) {
        let wanted = tree.wantedMeasures
        guard !tree.isBeingMeasured, let rows = tree.tree, rows.measures != wanted else { return }
        tree.isBeingMeasured = true
        evaluator.measure(tree, rows, wanted, in: snapshot) { [weak self] in self?.send($0) }
    }

    /// Goes on with a tree that was made of an earlier one.
    func take(_ measured: RankedTree, for tree: SharedTree, madeOf earlier: RankedTree) {
        guard let upkeep = tables[tree.table.id], upkeep.isWanted(tree) else { return }
        tree.isBeingMeasured = false
        tree.take(measured, madeOf: earlier, at: snapshot)
        // Without a change of its own a window would go on without it.
        for case let query? in tree.queries where query.subscriptions.contains(where: { $0.measured != 0 }) {
            publish(tree, query)
        }
        // Others have asked meanwhile, or gone.
        measure(tree)
    }
}
