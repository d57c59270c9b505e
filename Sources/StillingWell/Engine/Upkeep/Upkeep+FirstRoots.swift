// First roots: the first tree of rows that upkeep sends to a connection for a query. Here they are made at older
// versions, for connections without `autorefresh`. Suppressing commits that precede the first root of their rows are
// applied to it.
//
// Upkeep continues while a tree is evaluated. A suppressing commit that it crosses meanwhile is kept with the snapshots
// before and after it. The evaluated tree is moved back to the oldest version that a connection waits for, and from
// there step by step over these commits. The result is the same as if the tree had existed all the time. Upkeep thread
// only.

/// A first root for a connection that stays at an older version.
struct Hold {
    let mailbox: Mailbox
    let query: QueryHandle
    let attachment: Int
    let at: Snapshot
    /// The root, if it was made while replaying suppressing commits.
    var root: RankedTree?
}

/// A suppressing commit that upkeep crossed before it had the rows of an observer that it names. While it exists, the
/// inbox counts it as held (`UpkeepInbox.hold`). It is released once the query was evaluated or dropped; neither waits
/// for an observer.
final class EarlySkip {
    let record: SkipRecord
    let before: Snapshot
    let after: Snapshot
    private let inbox: UpkeepInbox

    init(_ record: SkipRecord, before: Snapshot, after: Snapshot, _ inbox: UpkeepInbox) {
        self.record = record
        self.before = before
        self.after = after
        self.inbox = inbox
        inbox.hold()
    }

    deinit { inbox.letGo() }
}

extension Upkeep {
    /// Registers a first root to deliver. Replaces an earlier request of the same query.
    func hold(_ hold: Hold) {
        if let index = holds.value.firstIndex(where: { $0.query === hold.query }) {
            let known = holds.value[index]
            if known.attachment == hold.attachment, known.at.version == hold.at.version { return }
            holds.value.remove(at: index)
        }
        holds.value.append(hold)
    }

    /// Delivers first roots at older versions, as far as they can be made. The tree's update must be in the mailbox
    /// before the root, because a connection that takes the root and then advances needs it.
    func bringHeld() {
        if holds.value.isEmpty { return }
        let asked = holds.value
        holds.value = []
        for hold in asked {
            guard let tree = tree(of: hold) else { continue }
            guard hold.at.version <= snapshot.value.version,
                let root = hold.root ?? tree.root(at: hold.at, from: snapshot.value)
            else {
                holds.value.append(hold)
                continue
            }
            hold.mailbox.put(
                HeldRoot(
                    update: RootUpdate(query: hold.query, attachment: hold.attachment, tree: root),
                    version: hold.at.version))
        }
    }

    /// Tree of a hold, or nil if the subscription has ended.
    private func tree(of hold: Hold) -> SharedTree? {
        guard let (live, tree) = live(hold.query),
            live.subscriptions.value.contains(where: { $0.query === hold.query && $0.attachment == hold.attachment })
        else { return nil }
        return tree
    }

    /// Moves a tree that was evaluated at a version to the current one over the suppressing commits that it has missed,
    /// and plans these. O(changes since the oldest version that a connection waits for).
    /// - Returns: the first failure to read, or nil.
    func replay(_ tree: SharedTree, from at: Snapshot) -> StoreError? {
        let early = tree.early.value
        tree.early.value = []
        // Keeps the evaluated tree alive, and with it what is kept in `DepartedRows` for rows that older roots lack.
        let evaluated = tree.tree.value
        defer { withExtendedLifetime(evaluated) {} }
        var place = at
        var failure: StoreError?
        func go(to next: Snapshot, found: () -> Void = {}) {
            if next.version != place.version { tree.move(from: place, to: next, found: found) }
            failure = failure ?? place.failure ?? next.failure
            place = next
        }
        var waiting = holds.value.indices.filter { self.tree(of: holds.value[$0]) === tree }
            .sorted { holds.value[$0].at.version > holds.value[$1].at.version }
        func makeHeld(upTo version: UInt64) {
            while let index = waiting.last, holds.value[index].at.version <= version {
                waiting.removeLast()
                go(to: holds.value[index].at)
                holds.value[index].root = tree.tree.value
            }
        }
        for skip in early {
            makeHeld(upTo: skip.before.version)
            go(to: skip.before)
            var rows: [TreeSkip.Row] = []
            go(to: skip.after) { rows = tree.rows(of: skip.record, from: skip.before, to: skip.after) }
            for (query, tokens) in observers(of: tree, namedBy: skip.record) {
                plannedSkips.value[ObjectIdentifier(query), default: PlannedSkips(subject: (query, tree))].skips
                    .append(TreeSkip(version: skip.record.version, tokens: tokens, rows: rows))
            }
        }
        makeHeld(upTo: snapshot.value.version)
        go(to: snapshot.value)
        return failure
    }

    private func observers(of tree: SharedTree, namedBy record: SkipRecord) -> [(LiveQuery, [any SilencedObserver])] {
        record.observersOfQueries.compactMap { handle, observers in
            guard let (query, its) = live(handle), its === tree else { return nil }
            return (query, observers)
        }
    }
}
