// What a connection has written itself since its last delivery. It shows that at once, on top of what was delivered: to
// everybody but a callback that has not written, which sees one version. On the connection's scheduler.

struct OwnWrites {
    /// The version of the last own commit, when that is newer than the last delivery.
    private(set) var snapshot: Snapshot?
    /// The rows written, those of the transaction in progress included.
    private(set) var changes: [LogEntry] = []
    /// Where those of them begin that results show: a callback starts without what earlier ones have written.
    private(set) var shownFrom = 0
    /// Some query has used `changes` up to its end, so that a further change of the last row must be listed anew.
    private var lastIsUsed = false
    private var countAtBegin = 0
    /// Versions of own commits, ascending.
    private var versions: [UInt64] = []
    /// By the table: up to which version it is known whether others have written to it.
    private var known: [UInt32: (version: UInt64, isAlone: Bool)] = [:]

    // MARK: A write

    mutating func begin() { countAtBegin = changes.count }

    mutating func note(_ change: LogEntry) {
        let isListed = changes.count > shownFrom
        if isListed, !lastIsUsed, changes.last == change { return }
        changes.append(change)
        lastIsUsed = false
    }

    mutating func noteUsed() { lastIsUsed = true }

    /// Forgets what was written since `begin`.
    mutating func cancel() {
        changes.removeSubrange(countAtBegin...)
        // Shown rows may have all that is left.
        lastIsUsed = true
    }

    mutating func noteCommit(_ transaction: WriteTransaction) {
        if transaction.isCommitted { versions.append(transaction.version) }
    }

    /// Whether nobody else has changed rows of a table after the delivered version, up to another one. O(1), but for what others
    /// have committed since it was asked last.
    mutating func isAlone(_ table: Table, from: UInt64, to: UInt64, _ source: any RowSource) -> Bool {
        let last = known[table.id] ?? (from, true)
        // A cancelled write has asked for a later version.
        guard last.isAlone, last.version < to else { return last.isAlone }
        let own = versions.drop { $0 <= last.version }
        let isAlone =
            UInt64(own.count) == to - last.version
            || source.isUntouched(table, after: last.version, to: to, besides: own)
        known[table.id] = (to, isAlone)
        return isAlone
    }

    /// Reads properties at a version that is newer than the delivered one.
    mutating func show(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        shownFrom = 0
    }

    // MARK: A delivery

    /// A delivery has everything in it.
    mutating func forget() {
        snapshot = nil
        changes.removeAll(keepingCapacity: true)
        lastIsUsed = false
        versions.removeAll(keepingCapacity: true)
        if !known.isEmpty { known = [:] }
    }

    /// For a callback, until it writes or returns.
    mutating func hide() { shownFrom = changes.count }

    mutating func unhide() { shownFrom = 0 }
}
