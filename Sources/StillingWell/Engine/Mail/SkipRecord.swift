// Suppressing commits: records of the observers that a write excludes. The record enters upkeep before the commit is
// visible. Upkeep computes its effect on each tree. The observer's delivery applies that to what the observer was last
// told.
//
// Everything here is immutable.

/// A commit and the observers that it excludes.
final class SkipRecord: Sendable {
    /// One row that the commit changed, before and after.
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

    /// Makes the record of a transaction about to commit, under the write lock. `before` is the version it began with.
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
    /// Excluded observers of queries, grouped by query.
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
    /// Whether a commit that excludes the observer has to be a separate step of upkeep.
    var needsOwnStep: Bool { dependsOnOthers || isWaiting }

    /// Whether the observer's rows depend on others, so that a suppressing commit's rows may not show its whole effect.
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

/// Effect of a skip record on the tree of one query.
struct TreeSkip: Sendable {
    struct Row: Sendable {
        let id: ObjectID
        let isDeleted: Bool
        /// Key of the row before the commit, or nil if it was not in the tree.
        let before: RankedKey?
        /// Version that last changed an observed column of the row before the commit. Nil if another commit changed the
        /// row earlier in a step without a log. May also be nil if `after` is.
        let beforeStamp: UInt64?
        /// Key and stamp after the commit, or nil if the row is no longer in the tree.
        let after: RankedEntry?
    }

    let version: UInt64
    let tokens: [any SilencedObserver]
    let rows: [Row]
}

extension RankedTree {
    /// The tree known to an observer that was told `self` and has made the changes in `skips`, which are in order of
    /// versions.
    ///
    /// A change is applied only if the observer knew the row as it was just before. If not, an earlier change of
    /// another writer is unreported, and the whole row is reported. A removal is always applied: the commit deleted the
    /// row or took it out of the filter. A commit that finds the row out already has not removed it.
    /// - Parameter keyNow: key of a row at the last delivery, if it passed the query's filter then.
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
