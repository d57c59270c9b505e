// A live query as upkeep has it: a window over a shared tree, and who watches it. Upkeep thread only.

/// One subscription of a connection to a live query, as upkeep sees it.
final class Subscription {
    let connection: ConnectedMailbox
    let query: QueryHandle
    let attachment: Int
    /// The columns that somebody has asked for numbers about.
    var measured: UInt64 = 0
    /// The tree the connection was last sent, from which the next change set is computed ahead.
    @exclusivity(unchecked) var sent: RankedTree?

    init(_ connection: ConnectedMailbox, _ query: QueryHandle, attachment: Int, sent: RankedTree?) {
        (self.connection, self.query, self.attachment, self.sent) = (connection, query, attachment, sent)
    }
}

/// A window over a shared tree, with everyone who watches it.
final class LiveQuery {
    let plan: QueryPlan
    let window: TreeWindow
    /// Those of `window`.
    let ends: WindowEnds
    @exclusivity(unchecked) var subscriptions: [Subscription] = []
    /// The last step of its tree that touched the window.
    var touchedStep = 0
    /// The rows of a tree that the window shows: of the one that a step has made last.
    @exclusivity(unchecked) private var known: (tree: RankedTree, ranks: Range<Int>)?

    init(_ plan: QueryPlan) {
        self.plan = plan
        window = plan.window
        ends = WindowEnds(window)
    }

    /// What a step changes in the window, and which rows it shows then. Of windows with a limit the difference says it all.
    /// - Parameter sent: an earlier tree that has the same rows in the window as the one before the step.
    func changes(_ step: TreeDifference, from sent: RankedTree) -> KnownChanges {
        guard window.limit == nil else { return KnownChanges(from: sent, step.changeSet(in: window)) }
        var ranks: Range<Int>?
        if let known, known.tree.isIdentical(to: step.old) { ranks = known.ranks }
        let (changes, shown) = step.changeSet(in: window, ends, showing: ranks ?? step.old.ranks(in: window))
        known = (step.new, shown)
        return KnownChanges(from: sent, changes, shown: shown)
    }
}
