// Lists in write blocks. To find what stands at an index takes a tree of the whole list: a block makes it once, keeps it in
// step with its own changes of the list, and leaves it for the next block, which takes it if nobody has changed the elements of
// such lists meanwhile. On the block's thread; what is left lies in the core, under its lock.

extension Connection {
    /// The rows of a list as the connection shows them.
    func listRows(_ query: ConnectionQuery) -> RankedTree {
        checkScheduler()
        if let tree = standingRows(query) {
            if query.shown?.epoch != epoch { show(tree.slice(query.window), query) }
            return tree
        }
        let tree = shownRows(query).tree
        if isBlockWrite { noteList(query) }
        return tree
    }

    /// The same where they need not be evaluated, in a write block.
    func standingRows(_ query: ConnectionQuery) -> RankedTree? {
        guard isBlockWrite, let transaction else { return nil }
        if let shown = query.shown, shown.from == rowEpoch {
            if shown.epoch == epoch { return shown.rows.tree }
            let isSame = transaction.isUntouched(query.table, since: transaction.version - 1, from: shown.applied)
            return isSame ? shown.rows.tree : nil
        }
        guard let kept = core.keptList(query.plan),
            transaction.isUntouched(query.table, since: kept.version, from: 0)
        else { return nil }
        noteList(query)
        return kept.tree
    }

    /// Whether all is read from the write in progress, and shown anew after each change.
    private var isBlockWrite: Bool { transaction != nil && delivered == nil }

    private func noteList(_ query: ConnectionQuery) {
        if !lists.contains(where: { $0 === query }) { lists.append(query) }
    }

    /// Brings a change of a list into its rows, which were `tree` before it.
    func showListChange(
        _ query: ConnectionQuery, _ tree: RankedTree, removing keys: [RankedKey] = [], adding ids: [ObjectID] = []
    ) {
        guard isBlockWrite, let transaction else { return }
        var added: [RankedEntry] = []
        for id in ids {
            guard let row = transaction.row(query.table, id), let key = query.key(row, id, transaction) else { return }
            added.append(RankedEntry(key: key, stamp: transaction.version))
        }
        var tree = tree
        query.form.apply(removals: keys, insertions: added, to: &tree)
        show(tree.slice(query.window), query)
    }

    /// What the next block may go on from.
    func listsShown(in transaction: WriteTransaction) -> [(plan: QueryPlan, tree: RankedTree)] {
        defer { lists = [] }
        return lists.compactMap { query in standingRows(query).map { (query.plan, $0) } }
    }
}

extension StoreCore {
    func keptList(_ plan: QueryPlan) -> KeptList? { lists.withLock { $0.first { $0.plan == plan } } }

    func keepLists(_ new: [(plan: QueryPlan, tree: RankedTree)], at version: UInt64) {
        if new.isEmpty { return }
        let kept = new.map { KeptList(plan: $0.plan, tree: $0.tree, version: version) }
        let gone = lists.withLock { lists in
            let before = lists
            lists = Array((kept + lists.filter { old in !kept.contains { $0.plan == old.plan } }).prefix(KeptList.most))
            return before
        }
        // Trees are not let go of under the lock.
        withExtendedLifetime(gone) {}
    }
}
