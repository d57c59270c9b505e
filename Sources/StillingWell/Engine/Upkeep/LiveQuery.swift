// Upkeep's state of a live query: a window (range of keys) over a shared tree, and its subscriptions. Upkeep thread
// only.
import StillingWellSync

/// Subscription of one connection to a live query.
final class Subscription {
    let connection: ConnectedMailbox
    let query: QueryHandle
    let attachment: Int
    /// Columns whose sums or extremes observers have read, bit i for column i.
    var measured: UInt64 = 0
    /// The tree the connection was last sent, from which the next change set is computed ahead.
    let sent: DeliveryBound<RankedTree?>

    init(_ connection: ConnectedMailbox, _ query: QueryHandle, attachment: Int, sent: RankedTree?) {
        (self.connection, self.query, self.attachment) = (connection, query, attachment)
        self.sent = DeliveryBound(sent)
    }
}

final class LiveQuery {
    let plan: QueryPlan
    let window: TreeWindow
    /// Ends of `window`.
    let ends: WindowEnds
    let subscriptions = DeliveryBound<[Subscription]>([])
    /// Number of the last step of the tree that touched the window.
    var touchedStep = 0
    /// Tree last passed to `changes`, and the ranks that the window shows in it.
    private let known = DeliveryBound<(tree: RankedTree, ranks: Range<Int>)?>(nil)

    init(_ plan: QueryPlan) {
        self.plan = plan
        window = plan.window
        ends = WindowEnds(window)
    }

    /// Changes that a step makes in the window, and the ranks that it shows then. For a window with a limit, the change
    /// set alone.
    /// - Parameter sent: an earlier tree with the same rows in the window as the tree before the step.
    func changes(_ step: TreeDifference, from sent: RankedTree) -> KnownChanges {
        guard window.limit == nil else { return KnownChanges(from: sent, step.changeSet(in: window)) }
        var ranks: Range<Int>?
        if let known = known.value, known.tree.isIdentical(to: step.old) { ranks = known.ranks }
        let (changes, shown) = step.changeSet(in: window, ends, showing: ranks ?? step.old.ranks(in: window))
        known.value = (step.new, shown)
        return KnownChanges(from: sent, changes, shown: shown)
    }
}
