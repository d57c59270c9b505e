// A query on one connection: its observers, the root of the last delivery (the whole tree of its rows at that version),
// and the rows as shown (delivered rows plus the connection's own later writes). The window is the part of the tree
// that the query shows. Upkeep is the thread that keeps the trees up to date. Used on the connection's scheduler.

/// Unchecked because only the connection's scheduler uses the state declared here. Upkeep stores the reference and
/// sends it back.
final class ConnectionQuery: QueryHandle, @unchecked Sendable {
    @exclusivity(unchecked) private(set) var tokens: [CollectionToken] = []
    /// Number of `tokens` when the delivery began. Observers added by its callbacks are told at the next delivery.
    private var tokensToTell = 0
    /// Query whose rows the results show. nil if it is this query. Otherwise this one differs in its observed columns
    /// only.
    private let showing: ConnectionQuery?
    /// Queries of the same rows with other observed columns.
    private var variants: [WeakQuery] = []
    /// Whether upkeep has been asked to maintain this query.
    private(set) var isAttached = false
    /// Number of the attachment, incremented each time. Updates that carry an older number are dropped.
    private(set) var attachment = 0
    /// Columns that upkeep has been asked to aggregate, and the attachment in which it was asked.
    private var measured: (attachment: Int, columns: UInt64) = (0, 0)
    private(set) var delivered: RankedTree?
    /// Range of the root's rows that the window shows, if upkeep sent it.
    private var deliveredRanks: Range<Int>?
    /// The rows as the connection shows them; nil until they are read, and after a new root was delivered.
    @exclusivity(unchecked) var shown: ShownTree?
    /// Shown rows with own writes, set aside while a callback reads the rows without them.
    var shownAside: ShownTree?
    /// Undo record of the last write during which `shown` was updated, or nil.
    var undo: ShownUndo?
    let form: TreeForm
    @exclusivity(unchecked) private var encoder: SortKeyEncoder
    private let residual: RowTest

    init(_ plan: QueryPlan, _ table: Table, showing: ConnectionQuery? = nil) {
        self.showing = showing
        form = TreeForm(plan.tree, table.schema)
        encoder = SortKeyEncoder(plan.tree, table.schema)
        residual = RowTest(plan.tree.residual)
        super.init(plan, table)
        showing?.addVariant(self)
    }

    private func addVariant(_ query: ConnectionQuery) {
        variants.removeAll { $0.query == nil }
        variants.append(WeakQuery(query: query))
    }

    func add(_ token: CollectionToken) { tokens.append(token) }

    /// Fixes the number of observers that this delivery tells.
    func beginDelivery() { tokensToTell = tokens.count }

    /// Marks the query as attached. Returns true if it was not.
    func attach() -> Bool {
        if isAttached { return false }
        isAttached = true
        attachment += 1
        return true
    }

    /// Removes observers that have been invalidated and releases their callbacks.
    /// - Returns: true if the last one was removed, so that upkeep can stop maintaining the query.
    func sweep() -> Bool {
        let gone = tokens.filter { !$0.isActive }
        tokens.removeAll { !$0.isActive }
        for token in gone { token.releaseCallback() }
        guard tokens.isEmpty, isAttached else { return false }
        isAttached = false
        delivered = nil
        return true
    }

    func end() {
        let ended = tokens
        tokens = []
        isAttached = false
        (delivered, shown) = (nil, nil)
        for token in ended { token.releaseCallback() }
    }

    /// Takes a new root. Observers are told afterwards, when all queries of the connection have theirs.
    /// - Returns: false if the root belongs to an earlier attachment, or the query is not attached.
    @discardableResult
    func accept(_ update: RootUpdate) -> Bool {
        guard takeIn(update) else { return false }
        shown = nil
        // Tested first, because assigning nil costs a call.
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
    var isWaiting: Bool { isAttached && delivered == nil }

    /// Takes the first root at the version that the connection stays at. Returns false if no observer waits for it, or
    /// if it belongs to an earlier attachment.
    ///
    /// The root has the same rows as the evaluation at this version, so own writes stay applied.
    func hold(_ update: RootUpdate) -> Bool { isWaiting && takeIn(update) }

    /// Removes from the shown rows what a cancelled write brought into them. Earlier own writes stay as they were
    /// shown.
    /// - Parameters:
    ///   - write: as `ShownUndo.write`.
    ///   - next: the connection's `epoch` after the cancellation; `epoch` is the one before it.
    func cancelWrite(_ write: Int, from epoch: Int, to next: Int) {
        if shownAside?.epoch == epoch { shownAside?.epoch = next }
        defer { undo = nil }
        guard shown?.epoch == epoch else { return }
        shown?.epoch = next
        if let undo, undo.write == write { shown?.revert(undo) }
    }

    /// Tells each observer that is not behind what changed since it was last told. Observers added meanwhile wait for
    /// the next delivery.
    /// - Parameters:
    ///   - update: the delivery's root for this query, or nil if it has none.
    ///   - old: the snapshot of the last delivery.
    func tell(_ update: RootUpdate?, old: Snapshot?, _ call: (CollectionToken, DeliveredChange) -> Void) {
        guard let delivered else { return }
        var known = update?.ahead
        // Observers may be added and removed by callbacks.
        let told = tokens
        for index in 0..<min(tokensToTell, told.count) {
            let token = told[index]
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

    /// Returns `reported` with the commits applied whose notifications are suppressed for this observer.
    private func silence(
        _ skips: [TreeSkip], for token: CollectionToken, _ reported: RankedTree, _ old: Snapshot?
    ) -> RankedTree {
        // The first root of a connection that moved on while its observers waited includes older commits. They are
        // skipped.
        let told = old?.version ?? 0
        let own = skips.filter { $0.version > told && $0.tokens.contains { $0 === token } }
        if own.isEmpty { return reported }
        return reported.applying(own, form, in: window) { id in old?.row(table, id).flatMap { key($0, id, old) } }
    }

    /// Ends the observers with an error. An observer that is added afterwards attaches the query again.
    /// - Parameter detached: called before the first observer is told.
    func fail(
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

    @inline(__always)
    var isDelivered: Bool { delivered != nil }

    /// Root of the last delivery to this query or to a variant of it.
    var deliveredToAnyVariant: RankedTree? {
        delivered ?? variants.lazy.compactMap { $0.query?.delivered }.first
    }

    /// Rows of that root inside the window.
    var deliveredRows: TreeSlice? {
        guard let delivered else { return deliveredToAnyVariant?.slice(window) }
        return deliveredRanks.map { TreeSlice(delivered, $0) } ?? delivered.slice(window)
    }

    /// Returns the query whose tree is to aggregate a column: this one, or the variant whose root is shown. Returns nil
    /// if no root was delivered, if that was already requested, or if the tree does not observe the column and so
    /// cannot keep the aggregate current.
    func toMeasure(_ column: Int) -> ConnectionQuery? {
        if delivered == nil { return variants.lazy.compactMap(\.query).first { $0.isDelivered }?.toMeasure(column) }
        if measured.attachment != attachment { measured = (attachment, 0) }
        let bit = UInt64(1) << UInt64(column)
        guard measured.columns & bit == 0, plan.tree.observed.includes(bit) else { return nil }
        measured.columns |= bit
        return self
    }

    /// Returns the id of the shown row at `index`. Returns nil if the cached rows are not valid in `state`, or if the
    /// index is out of range.
    func shownID(at index: Int, _ state: ShownState) -> UInt64? {
        guard let epoch = shown?.epoch, epoch == state.epoch, shown!.from == state.from,
            shown!.applied >= state.changes, case let ranks = shown!.rows.ranks, index >= 0, index < ranks.count
        else { return nil }
        return shown!.rows.tree.id(at: ranks.lowerBound &+ index)
    }

    /// Returns the sort key of a row, or nil if the filter rejects it.
    /// - Parameter source: source of the other rows that the filter reads.
    func key(_ row: RowReader, _ id: ObjectID, _ source: (any RowSource)?) -> RankedKey? {
        residual.passes(row, id, source, table.links) ? encoder.key(row, id, source, table.links) : nil
    }
}

/// Delivered rows with a connection's own writes applied.
struct ShownTree {
    var rows: TreeSlice
    /// Epoch in which the rows are valid.
    var epoch: Int
    /// Index of the first own change that is shown. In a connection that is not live, its `rowEpoch`.
    let from: Int
    /// Number of the connection's own changes that are applied or hidden.
    var applied: Int
    /// Key under which each row affected by own changes is shown. A nil value means that the row is not shown.
    var overlay: [ObjectID: RankedKey?]

    init(rows: TreeSlice, epoch: Int, from: Int, applied: Int) {
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
final class ShownUndo {
    /// The connection's `rowEpoch` during the write.
    let write: Int
    /// Values of `ShownTree` before the write.
    fileprivate let rows: TreeSlice
    fileprivate let applied: Int
    /// Previous values of `ShownTree.overlay`, in the order of the changes.
    var keys: [(id: ObjectID, key: RankedKey??)] = []

    init(_ shown: ShownTree, write: Int) {
        self.write = write
        rows = shown.rows
        applied = shown.applied
    }
}

/// Read state of a connection. Cached rows are valid only if their `epoch` and `from` are equal and at least `changes`
/// own changes are applied to them.
struct ShownState {
    /// Same meaning as in `ShownTree`.
    let (epoch, from): (Int, Int)
    let changes: Int

    init(epoch: Int, from: Int, changes: Int) { (self.epoch, self.from, self.changes) = (epoch, from, changes) }
}

struct WeakQuery {
    weak var query: ConnectionQuery?

    init(query: ConnectionQuery) { self.query = query }
}
