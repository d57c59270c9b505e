// Trees with sums and extremes of the columns whose sums or extremes observers read. The first request is answered from
// the rows. Meanwhile a tree with these measures is made off the upkeep thread and replaces the tree, until the last
// observer that read one has ended. Upkeep thread only.
//
// Measures cover only columns whose changes the tree's observers are told of (`ConnectionQuery.toMeasure`). Writes of
// other columns bring no new root, and the measures of a root must match its version.

extension Upkeep {
    /// Handles a connection's request for sums or extremes of a column.
    func measure(_ query: QueryHandle, _ attachment: Int, _ column: Int) {
        guard let (live, tree) = live(query),
            let asking = live.subscriptions.value.first(where: { $0.query === query && $0.attachment == attachment })
        else { return }
        let bit = UInt64(1) << UInt64(column)
        asking.measured |= bit
        // The measure may exist for another query, while this one still has a root from before.
        guard let known = tree.tree.value?.measures.columns, known & bit != 0 else { return measure(tree) }
        publish(tree, live)
    }

    /// Starts to make a tree with the measures that observers ask for, unless this one has them or one is being made.
    func measure(_ tree: SharedTree) {
        let wanted = tree.wantedMeasures
        guard !tree.isBeingMeasured.value, let rows = tree.tree.value, rows.measures != wanted else { return }
        tree.isBeingMeasured.value = true
        evaluator.measure(tree, rows, wanted, in: snapshot.value) { [weak self] in self?.send($0) }
    }

    /// Continues with a tree that was made from an earlier version of this one.
    func take(_ measured: RankedTree, for tree: SharedTree, madeOf earlier: RankedTree) {
        guard let upkeep = tables.value[tree.table.id], upkeep.isWanted(tree) else { return }
        tree.isBeingMeasured.value = false
        tree.take(measured, madeOf: earlier, at: snapshot.value)
        // A window without changes of its own would not get the new tree otherwise.
        for case let query? in tree.queries.value where query.subscriptions.value.contains(where: { $0.measured != 0 })
        {
            publish(tree, query)
        }
        // Meanwhile, observers may have read other columns or ended.
        measure(tree)
    }
}
