// A query as one connection has it: the root delivered last, the rows as the connection shows them (delivered, plus its
// own writes since, which the connection makes), and the observers. Used on the connection's scheduler, except `mailSlot`.
//
// What the face reads at every delivery is without the runtime's check of exclusive access: one thread has it at a time, and
// where two modules share a property the compiler cannot prove that needless any more. The check cost more than the delivery.

/// Unchecked because the connection's scheduler has it; upkeep only hands it back, and the mailbox guards `mailSlot`.
package final class ConnectionQuery: @unchecked Sendable {
    package let plan: QueryPlan
    package let window: TreeWindow
    package let table: Table
    /// Place of the waiting update in the mailbox, −1 when there is none. Guarded by the mailbox's lock.
    @exclusivity(unchecked) var mailSlot = -1

    @exclusivity(unchecked) package private(set) var tokens: [CollectionToken] = []
    /// How many of them were there when the delivery began; the others, added in its callbacks, wait for the next.
    @exclusivity(unchecked) private var tokensToTell = 0
    /// The query of the same rows that results show; nil for that one itself.
    private let showing: ConnectionQuery?
    /// Queries of the same rows that are observed by other columns.
    private var variants: [WeakQuery] = []
    /// Set while upkeep keeps this query.
    @exclusivity(unchecked) private(set) var isAttached = false
    /// Counts the times it has begun to: what it still sends for an earlier one is not for this one.
    @exclusivity(unchecked) package private(set) var attachment = 0
    /// The columns that upkeep has been asked for, and for which attachment.
    @exclusivity(unchecked) private var measured: (attachment: Int, columns: UInt64) = (0, 0)
    /// The root of the last delivery.
    @exclusivity(unchecked) package private(set) var delivered: RankedTree?
    /// The rows of it that the window shows, where upkeep has told.
    @exclusivity(unchecked) private var deliveredRanks: Range<Int>?
    /// The rows as the connection shows them; nil until somebody asks, and after each delivery.
    @exclusivity(unchecked) package var shown: ShownTree?
    /// Rows with all own writes, set while a callback reads the rows without them.
    @exclusivity(unchecked) package var shownAside: ShownTree?
    /// Changes of `shown` by the last write that read it; nil if none did.
    @exclusivity(unchecked) package var undo: ShownUndo?
    package let form: TreeForm
    @exclusivity(unchecked) private var encoder: SortKeyEncoder
    private let residual: RowTest

    package init(_ plan: QueryPlan, _ table: Table, showing: ConnectionQuery? = nil) {
        self.plan = plan
        self.showing = showing
        self.table = table
        window = plan.window
        form = TreeForm(plan.tree, table.schema)
        encoder = SortKeyEncoder(plan.tree, table.schema)
        residual = RowTest(plan.tree.residual)
        showing?.addVariant(self)
    }

    private func addVariant(_ query: ConnectionQuery) {
        variants.removeAll { $0.query == nil }
        variants.append(WeakQuery(query: query))
    }

    package func add(_ token: CollectionToken) { tokens.append(token) }

    /// A delivery begins that has something for this query.
    func beginDelivery() { tokensToTell = tokens.count }

    /// Marks the query as upkeep's from here on; true when it was not.
    package func attach() -> Bool {
        if isAttached { return false }
        isAttached = true
        attachment += 1
        return true
    }

    /// Drops observers that have been invalidated, and with them the user's code they hold.
    /// - Returns: true when the last one went, and upkeep need not keep the query any more.
    package func sweep() -> Bool {
        let gone = tokens.filter { !$0.isActive }
        tokens.removeAll { !$0.isActive }
        for token in gone { token.releaseCallback() }
        guard tokens.isEmpty, isAttached else { return false }
        isAttached = false
        delivered = nil
        return true
    }

    /// Drops all observers: their connection has ended.
    package func end() {
        let ended = tokens
        tokens = []
        isAttached = false
        (delivered, shown) = (nil, nil)
        for token in ended { token.releaseCallback() }
    }

    /// Takes a new root in; observers are told afterwards, when all queries of the connection have theirs.
    /// - Returns: false where it is of no use any more.
    @discardableResult
    package func accept(_ update: RootUpdate) -> Bool {
        guard takeIn(update) else { return false }
        shown = nil
        // Seldom set, and setting a nil to nil costs a call.
        if shownAside != nil { shownAside = nil }
        if undo != nil { undo = nil }
        return true
    }

    @inline(__always)
    private func takeIn(_ update: RootUpdate) -> Bool {
        guard isAttached, update.attachment == attachment else { return false }
        beginDelivery()
        delivered = update.tree
        deliveredRanks = update.ahead?.shown
        return true
    }

    /// Whether observers wait for the first root.
    package var isWaiting: Bool { isAttached && delivered == nil }

    /// Takes the first root in at the version the connection stays at; false where it is of no use any more.
    ///
    /// The root has the rows that were evaluated at this version before. Own writes stay on them.
    package func hold(_ update: RootUpdate) -> Bool { isWaiting && takeIn(update) }

    /// Removes from the shown rows what a cancelled write brought into them. Earlier own writes stay as they were shown.
    /// - Parameters:
    ///   - write: as `ShownUndo.write`.
    ///   - next: the epoch that begins with the cancellation, after `epoch`.
    package func cancelWrite(_ write: Int, from epoch: Int, to next: Int) {
        if shownAside?.epoch == epoch { shownAside?.epoch = next }
        defer { undo = nil }
        guard shown?.epoch == epoch else { return }
        shown?.epoch = next
        if let undo, undo.write == write { shown?.revert(undo) }
    }

    /// Tells every observer what changed since it was last told. One that is added meanwhile waits for the next delivery.
    /// - Parameters:
    ///   - update: what the delivery brought; nil where it brought nothing new for this query.
    ///   - old: the content at the last delivery.
    package func tell(_ update: RootUpdate?, old: Snapshot?, _ call: (CollectionToken, DeliveredChange) -> Void) {
        guard let delivered else { return }
        var known = update?.ahead
        for token in tokens.prefix(tokensToTell) {
            guard var reported = token.reported else {
                token.begin(with: delivered)
                call(token, .initial)
                continue
            }
            if let skips = update?.skips { reported = silence(skips, for: token, reported, old) }
            if token.isBehind {
                token.reported = reported
                continue
            }
            if known == nil || !known!.from.isIdentical(to: reported) {
                known = KnownChanges(from: reported, .between(reported, delivered, in: window))
            }
            token.reported = delivered
            if let known, !known.changes.isEmpty { call(token, .update(known, to: delivered)) }
        }
    }

    /// What the observer knows that was told `reported` and is not to hear of some commits.
    private func silence(
        _ skips: [TreeSkip], for token: CollectionToken, _ reported: RankedTree, _ old: Snapshot?
    ) -> RankedTree {
        // The first root of a connection that has moved on while its observers waited has earlier ones in it.
        let told = old?.version ?? 0
        let own = skips.filter { $0.version > told && $0.tokens.contains { $0 === token } }
        if own.isEmpty { return reported }
        return reported.applying(own, form, in: window) { id in old?.row(table, id).flatMap { key($0, id, old) } }
    }

    /// Ends the observers with an error; one that is added meanwhile has upkeep try again.
    /// - Parameter detached: called before the first of them is told.
    package func fail(
        _ failure: QueryFailure, _ detached: () -> Void, _ call: (CollectionToken, DeliveredChange) -> Void
    ) {
        guard isAttached, failure.attachment == attachment else { return }
        let ended = tokens
        tokens = []
        isAttached = false
        delivered = nil
        detached()
        for token in ended {
            call(token, .failed(failure.error))
            _ = token.invalidate()
            token.releaseCallback()
        }
    }

    /// Whether there was a delivery of these columns.
    @inline(__always)
    package var isDelivered: Bool { delivered != nil }

    /// The root of the last delivery, by whatever columns the rows are observed.
    package var deliveredToAnyVariant: RankedTree? {
        delivered ?? variants.lazy.compactMap { $0.query?.delivered }.first
    }

    /// The rows of it that the window shows.
    package var deliveredRows: TreeSlice? {
        guard let delivered else { return deliveredToAnyVariant?.slice(window) }
        return deliveredRanks.map { TreeSlice(delivered, $0) } ?? delivered.slice(window)
    }

    /// The query whose tree upkeep should have know the numbers of a column, where the rows shown come from; nil where
    /// it has been asked for that already, or cannot keep them: the tree's observers do not hear of the column's changes.
    package func toMeasure(_ column: Int) -> ConnectionQuery? {
        if delivered == nil { return variants.lazy.compactMap(\.query).first { $0.isDelivered }?.toMeasure(column) }
        if measured.attachment != attachment { measured = (attachment, 0) }
        let bit = UInt64(1) << UInt64(column)
        guard measured.columns & bit == 0, plan.tree.observed.includes(bit) else { return nil }
        measured.columns |= bit
        return self
    }

    /// The row at an index of those shown, where they are at hand as the connection stands; nil where not, or where there is none.
    package func shownID(at index: Int, _ state: ShownState) -> UInt64? {
        guard let epoch = shown?.epoch, epoch == state.epoch, shown!.from == state.from,
            shown!.applied >= state.changes, case let ranks = shown!.rows.ranks, index >= 0, index < ranks.count
        else { return nil }
        return shown!.rows.tree.id(at: ranks.lowerBound &+ index)
    }

    /// The key of a row among the shown ones; nil where it is not one of them.
    /// - Parameter source: where the other rows are read that the filter asks about.
    package func key(_ row: RowReader, _ id: ObjectID, _ source: (any RowSource)?) -> RankedKey? {
        residual.passes(row, id, source, table.links) ? encoder.key(row, id, source, table.links) : nil
    }
}

/// The delivered rows with a connection's own writes on them.
@usableFromInline
package struct ShownTree {
    @usableFromInline package var rows: TreeSlice
    /// The delivery or write this belongs to; of another one, it is worth nothing.
    @usableFromInline package var epoch: Int
    /// Where the own changes begin that are shown.
    @usableFromInline package let from: Int
    /// How many of the connection's own changes are in.
    @usableFromInline package var applied: Int
    /// Where each row is shown that own changes concern, every row written here among them; nil: not at all.
    @usableFromInline package var overlay: [ObjectID: RankedKey?]

    @inlinable
    package init(rows: TreeSlice, epoch: Int, from: Int, applied: Int) {
        self.rows = rows
        self.epoch = epoch
        self.from = from
        self.applied = applied
        overlay = [:]
    }

    fileprivate mutating func revert(_ undo: ShownUndo) {
        rows = undo.rows
        applied = undo.applied
        for (id, key) in undo.keys.reversed() { overlay[id] = key }
    }
}

/// State of shown rows before a write in progress changed them.
package final class ShownUndo {
    /// The connection's `rowEpoch` during the write.
    package let write: Int
    /// As `ShownTree` has them.
    fileprivate let rows: TreeSlice
    fileprivate let applied: Int
    /// Previous values of `ShownTree.overlay`, in the order of the changes.
    package var keys: [(id: ObjectID, key: RankedKey??)] = []

    package init(_ shown: ShownTree, write: Int) {
        self.write = write
        rows = shown.rows
        applied = shown.applied
    }
}

/// How a connection stands: what rows have to be of that it shows.
package struct ShownState {
    /// As `ShownTree` has them.
    let (epoch, from): (Int, Int)
    /// How many own changes there are.
    let changes: Int

    package init(epoch: Int, from: Int, changes: Int) { (self.epoch, self.from, self.changes) = (epoch, from, changes) }
}

package struct WeakQuery {
    package weak var query: ConnectionQuery?

    package init(query: ConnectionQuery) { self.query = query }
}
