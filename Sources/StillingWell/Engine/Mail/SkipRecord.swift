// Silence asked for by a write: which observers are not to hear of one commit. The record enters upkeep before the commit
// becomes visible; upkeep turns it into what it means for each tree; the observer's own delivery applies that to what the
// observer was last told. Nobody waits for anybody.
//
// Everything here is immutable.

/// A commit, and the observers that are not to hear of it.
final class SkipRecord: Sendable {
    /// One row the commit changed, as it was before and after.
    struct Row: Sendable {
        let table: UInt32
        let id: ObjectID
        let columns: UInt64
        let before: [UInt8]?
        let after: [UInt8]?
    }

    let version: UInt64
    let tokens: [any SilencedObserver]
    let rows: [Row]

    /// The record of a transaction that is about to commit. The write lock is held, so `before` is what it began with.
    init(_ transaction: WriteTransaction, _ tokens: [any SilencedObserver], tables: [UInt32: Table], before: Snapshot) {
        version = transaction.version
        self.tokens = tokens
        var columns: [LogEntry.Key: UInt64] = [:]
        for entry in transaction.entries { columns[entry.key, default: 0] |= entry.columns }
        rows = columns.compactMap { key, columns -> Row? in
            guard let table = tables[key.table] else { return nil }
            return Row(
                table: key.table, id: key.id, columns: columns,
                before: before.row(table, key.id).map { $0.copy(table.layout) },
                after: transaction.row(table, key.id).map { $0.copy(table.layout) })
        }
    }
}

extension SkipRecord {
    /// The observers of queries among those named, for each query.
    var observersOfQueries: [(query: QueryHandle, observers: [any SilencedObserver])] {
        var found: [ObjectIdentifier: (query: QueryHandle, observers: [any SilencedObserver])] = [:]
        for observer in tokens {
            guard let query = observer.observedQuery else { continue }
            found[ObjectIdentifier(query), default: (query, [])].observers.append(observer)
        }
        return Array(found.values)
    }
}

extension SilencedObserver {
    /// Whether a commit that is silent for the observer has to be a step of upkeep's own.
    var needsOwnStep: Bool { dependsOnOthers || isWaiting }

    /// Whether the observer's rows depend on other rows, so that those a silent commit wrote do not tell what it did.
    var dependsOnOthers: Bool {
        guard let query = observedQuery else { return false }
        let key = query.plan.tree
        if key.needsReach { return true }
        switch key.observed {
        case .everything: return query.table.links?.leadsToObjects ?? false
        case .columns(_, let paths): return !paths.isEmpty
        }
    }
}

extension LogEntry {
    struct Key: Hashable {
        let table: UInt32
        let id: ObjectID
    }

    var key: Key { Key(table: table, id: ObjectID(rawValue: id)) }
}

/// What a skip record means for one query's tree.
struct TreeSkip: Sendable {
    struct Row: Sendable {
        let id: ObjectID
        let isDeleted: Bool
        /// Where the row stood in the tree before the commit; nil: nowhere.
        let before: RankedKey?
        /// Its stamp there; nil where the log was pruned under the step that crossed the commit.
        let beforeStamp: UInt64?
        /// nil: the row is not in the tree any more.
        let after: RankedEntry?
    }

    let version: UInt64
    let tokens: [any SilencedObserver]
    let rows: [Row]
}

extension RankedTree {
    /// What an observer knows that was told `self` and has itself made the changes in `skips`, which are in order of
    /// versions.
    ///
    /// A change is applied only where the observer knew the row as it was just before it; otherwise somebody else's change
    /// of the row is unreported, and the row is reported as a whole. A removal is applied always: a
    /// commit that deletes the row, or takes it out of the filter. One that finds it out already has not removed it.
    /// - Parameter keyNow: the key a row had at the last delivery, if it passed the query's filter then.
    func applying(
        _ skips: [TreeSkip], _ form: TreeForm, in window: TreeWindow, keyNow: (ObjectID) -> RankedKey?
    ) -> RankedTree {
        var tree = self
        var keys: [ObjectID: RankedKey?] = [:]
        for row in skips.flatMap(\.rows) {
            let shown = keys[row.id] ?? keyNow(row.id).flatMap { window.contains($0) && tree.has($0) ? $0 : nil }
            let before = row.before.flatMap { window.contains($0) ? $0 : nil }
            guard let after = row.after, window.contains(after.key) else {
                guard let shown, row.isDeleted || before != nil else { continue }
                form.apply(removals: [shown], insertions: [], to: &tree)
                keys[row.id] = .some(nil)
                continue
            }
            guard shown == before else { continue }
            if let before { guard let stamp = row.beforeStamp, tree.base.stamp(of: before) == stamp else { continue } }
            form.apply(removals: shown.map { $0 == after.key ? [] : [$0] } ?? [], insertions: [after], to: &tree)
            keys[row.id] = after.key
        }
        return tree
    }

    private func has(_ key: RankedKey) -> Bool { base.rank(of: key) != nil }
}
