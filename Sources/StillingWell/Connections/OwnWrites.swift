// The writes of a connection since its last delivery. They are shown at once, on top of the delivered version. A
// callback does not see those before it until it commits a write itself. On the connection's scheduler.

struct OwnWrites {
    /// Snapshot that the last own commit or `readNewest` has opened since the last delivery.
    private(set) var snapshot: Snapshot?
    /// Changed rows, including those of the write in progress.
    private(set) var changes: [LogEntry] = []
    /// Index of the first change that results show. A callback starts with all earlier changes hidden.
    private(set) var shownFrom = 0
    /// Whether a query has used all of `changes`. Then a repeated change of the last row must be listed again.
    private var lastIsUsed = false
    private var countAtBegin = 0
    private var versions: [UInt64] = []
    /// By table id: whether no other writer has changed the table, up to the version given.
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

    mutating func cancel() {
        changes.removeSubrange(countAtBegin...)
        // Shown rows may include all remaining changes.
        lastIsUsed = true
    }

    mutating func noteCommit(_ transaction: WriteTransaction) {
        if transaction.isCommitted { versions.append(transaction.version) }
    }

    /// Returns whether no other writer has changed a table's rows between the versions `from` (exclusive) and `to`.
    /// False if the log does not tell.
    mutating func isAlone(_ table: Table, from: UInt64, to: UInt64, _ source: any RowSource) -> Bool {
        let last = known[table.id] ?? (from, true)
        // `to` can be smaller than in the last call, which may have come from a write that was cancelled.
        guard last.isAlone, last.version < to else { return last.isAlone }
        let own = versions.drop { $0 <= last.version }
        let isAlone =
            UInt64(own.count) == to - last.version
            || source.isUntouched(table, after: last.version, to: to, besides: own)
        known[table.id] = (to, isAlone)
        return isAlone
    }

    /// Sets the snapshot that properties are read at, which is not older than the delivered one.
    mutating func show(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        shownFrom = 0
    }

    // MARK: A delivery

    /// Forgets all own writes, because the delivered version includes them.
    mutating func forget() {
        snapshot = nil
        changes.removeAll(keepingCapacity: true)
        lastIsUsed = false
        versions.removeAll(keepingCapacity: true)
        if !known.isEmpty { known = [:] }
    }

    /// Hides own changes for a callback, until it commits a write or returns.
    mutating func hide() { shownFrom = changes.count }

    mutating func unhide() { shownFrom = 0 }
}
