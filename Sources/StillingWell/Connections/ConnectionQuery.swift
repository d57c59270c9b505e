// A query as one connection has it: the root delivered last, the rows as the connection shows them (delivered, plus its
// own writes since, which the connection makes), and the observers. Used on the connection's scheduler.

/// Unchecked because the connection's scheduler has it; upkeep only hands it back.
final class ConnectionQuery: QueryHandle, @unchecked Sendable {
    @exclusivity(unchecked) private(set) var tokens: [CollectionToken] = []
    /// How many of them were there when the delivery began; the others, added in its callbacks, wait for the next.
    private var tokensToTell = 0
    /// The query of the same rows that results show; nil for that one itself.
    private let showing: ConnectionQuery?
    /// Queries of the same rows that are observed by other columns.
    private var variants: [WeakQuery] = []
    /// Set while upkeep keeps this query.
    private(set) var isAttached = false
    /// Counts the times it has begun to: what it still sends for an earlier one is not for this one.
    private(set) var attachment = 0
    /// The columns that upkeep has been asked for, and for which attachment.
    private var measured: (attachment: Int, columns: UInt64) = (0, 0)
    /// The root of the last delivery.
    private(set) var delivered: RankedTree?
    /// The rows of it that the window shows, where upkeep has told.
    private var deliveredRanks: Range<Int>?
    /// The rows as the connection shows them; nil until somebody asks, and after each delivery.
    @exclusivity(unchecked) var shown: ShownTree?
    /// Rows with all own writes, set while a callback reads the rows without them.
    var shownAside: ShownTree?
    /// Changes of `shown` by the last write that read it; nil if none did.
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

    /// A delivery begins that has something for this query.
    func beginDelivery() { tokensToTell = tokens.count }

    /// Marks the query as upkeep's from here on; true when it was not.
    func attach() -> Bool {
        if isAttached { return false }
        isAttached = true
        attachment += 1
        return true
    }

    /// Drops observers that have been invalidated, and with them the user's code they hold.
    /// - Returns: true when the last one went, and upkeep need not keep the query any more.
    func sweep() -> Bool {
        let gone = tokens.filter { !$0.isActive }
        tokens.removeAll { !$0.isActive }
        for token in gone { token.releaseCallback() }
        guard tokens.isEmpty, isAttached else { return false }
        isAttached = false
        delivered = nil
        return true
    }

    /// Drops all observers: their connection has ended.
    func end() {
        let ended = tokens
        tokens = []
        isAttached = false
        (delivered, shown) = (nil, nil)
        for token in ended { token.releaseCallback() }
    }

    /// Takes a new root in; observers are told afterwards, when all queries of the connection have theirs.
    /// - Returns: false where it is of no use any more.
    @discardableResult
    func accept(_ update: RootUpdate) -> Bool {
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
    var isWaiting: Bool { isAttached && delivered == nil }

    /// Takes the first root in at the version the connection stays at; false where it is of no use any more.
    ///
    /// The root has the rows that were evaluated at this version before. Own writes stay on them.
    func hold(_ update: RootUpdate) -> Bool { isWaiting && takeIn(update) }

    /// Removes from the shown rows what a cancelled write brought into them. Earlier own writes stay as they were shown.
    /// - Parameters:
    ///   - write: as `ShownUndo.write`.
    ///   - next: the epoch that begins with the cancellation, after `epoch`.
    func cancelWrite(_ write: Int, from epoch: Int, to next: Int) {
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
    func tell(_ update: RootUpdate?, old: Snapshot?, _ call: (CollectionToken, DeliveredChange) -> Void) {
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

    /// Whether there was a delivery of these columns.
    @inline(__always)
    var isDelivered: Bool { delivered != nil }

    /// The root of the last delivery, by whatever columns the rows are observed.
    var deliveredToAnyVariant: RankedTree? {
        delivered ?? variants.lazy.compactMap { $0.query?.delivered }.first
    }

    /// The rows of it that the window shows.
    var deliveredRows: TreeSlice? {
        guard let delivered else { return deliveredToAnyVariant?.slice(window) }
        return deliveredRanks.map { TreeSlice(delivered, $0) } ?? delivered.slice(window)
    }

    /// The query whose tree upkeep should have know the numbers of a column, where the rows shown come from; nil where
    /// it has been asked for that already, or cannot keep them: the tree's observers do not hear of the column's changes.
    func toMeasure(_ column: Int) -> ConnectionQuery? {
        if delivered == nil { return variants.lazy.compactMap(\.query).first { $0.isDelivered }?.toMeasure(column) }
        if measured.attachment != attachment { measured = (attachment, 0) }
        let bit = UInt64(1) << UInt64(column)
        guard measured.columns & bit == 0, plan.tree.observed.includes(bit) else { return nil }
        measured.columns |= bit
        return self
    }

    /// The row at an index of those shown, where they are at hand as the connection stands; nil where not, or where there is none.
    func shownID(at index: Int, _ state: ShownState) -> UInt64? {
        guard let epoch = shown?.epoch, epoch == state.epoch, shown!.from == state.from,
            shown!.applied >= state.changes, case let ranks = shown!.rows.ranks, index >= 0, index < ranks.count
        else { return nil }
        return shown!.rows.tree.id(at: ranks.lowerBound &+ index)
    }

    /// The key of a row among the shown ones; nil where it is not one of them.
    /// - Parameter source: where the other rows are read that the filter asks about.
    func key(_ row: RowReader, _ id: ObjectID, _ source: (any RowSource)?) -> RankedKey? {
        residual.passes(row, id, source, table.links) ? encoder.key(row, id, source, table.links) : nil
    }
}

/// The delivered rows with a connection's own writes on them.
struct ShownTree {
    var rows: TreeSlice
    /// The delivery or write this belongs to; of another one, it is worth nothing.
    var epoch: Int
    /// Where the own changes begin that are shown.
    let from: Int
    /// How many of the connection's own changes are in.
    var applied: Int
    /// Where each row is shown that own changes concern, every row written here among them; nil: not at all.
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
    /// As `ShownTree` has them.
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

/// How a connection stands: what rows have to be of that it shows.
struct ShownState {
    /// As `ShownTree` has them.
    let (epoch, from): (Int, Int)
    /// How many own changes there are.
    let changes: Int

    init(epoch: Int, from: Int, changes: Int) { (self.epoch, self.from, self.changes) = (epoch, from, changes) }
}

struct WeakQuery {
    weak var query: ConnectionQuery?

    init(query: ConnectionQuery) { self.query = query }
}
