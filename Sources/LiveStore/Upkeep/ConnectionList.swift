// The live connections, and the mail of the current step, gathered so that each connection gets one
// mailbox update per version. Upkeep thread only.

struct ConnectionList {
    private struct Entry {
        let mailbox: Mailbox
        var updates: [RootUpdate] = []
        /// Had mail that it may not have taken yet.
        var isWaiting = false
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// Those with mail in this step.
    private var touched: [ObjectIdentifier] = []
    /// Those with `isWaiting`.
    private var waiting: [ObjectIdentifier] = []
    /// The differences of this step, each computed once however many windows it is clipped to.
    private var differences: [TreeDifference] = []

    mutating func add(_ mailbox: Mailbox) { entries[ObjectIdentifier(mailbox)] = Entry(mailbox: mailbox) }

    mutating func remove(_ mailbox: Mailbox) {
        let key = ObjectIdentifier(mailbox)
        entries[key] = nil
        waiting.removeAll { $0 == key }
    }

    /// Whether the connection has taken all its mail, so that what it was sent last is what it has reported.
    mutating func isIdle(_ mailbox: Mailbox) -> Bool {
        guard let entry = entries[ObjectIdentifier(mailbox)] else { return false }
        return entry.isWaiting ? mailbox.isEmpty : true
    }

    mutating func add(_ update: RootUpdate, to mailbox: Mailbox) {
        let key = ObjectIdentifier(mailbox)
        if entries[key]?.updates.isEmpty ?? true { touched.append(key) }
        entries[key]?.updates.append(update)
    }

    /// The change set of a window between two trees.
    mutating func changes(from old: RankedTree, to new: RankedTree, in window: TreeWindow) -> ChangeSet {
        for known in differences where known.old.isIdentical(to: old) && known.new.isIdentical(to: new) {
            return known.changeSet(in: window)
        }
        let difference = TreeDifference(from: old, to: new)
        differences.append(difference)
        return difference.changeSet(in: window)
    }

    /// Ends the step: one update per connection, and waiting mail moves on to the new version.
    mutating func deliver(_ snapshot: Snapshot) {
        differences.removeAll(keepingCapacity: true)
        let untouched = waiting.filter { entries[$0]?.updates.isEmpty ?? false }
        waiting.removeAll(keepingCapacity: true)
        for key in untouched where entries[key]?.mailbox.advance(snapshot) == true { waiting.append(key) }
        for key in untouched { entries[key]?.isWaiting = false }
        for key in waiting { entries[key]?.isWaiting = true }
        for key in touched {
            guard let entry = entries[key] else { continue }
            entries[key]?.updates = []
            entries[key]?.isWaiting = true
            waiting.append(key)
            entry.mailbox.put(snapshot, entry.updates)
        }
        touched.removeAll(keepingCapacity: true)
    }

    /// Sends the snapshot alone, to everyone.
    mutating func offer(_ snapshot: Snapshot) {
        for (key, entry) in entries where !entry.isWaiting {
            entries[key]?.isWaiting = true
            waiting.append(key)
            entry.mailbox.put(snapshot, [])
        }
    }
}
