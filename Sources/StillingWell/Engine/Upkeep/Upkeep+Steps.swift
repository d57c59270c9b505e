// How upkeep goes from one version to the next: in one step over many commits, or in several where silent ones have to be
// steps of their own; and what it gives up where the engine reports damage on the way.
//
// A silent commit stays in the inbox until a step that has crossed it is delivered: one that fails forgets nothing. Upkeep
// thread only.
import Logging

extension Upkeep {
    /// Goes to a version in one step, or in several: what a silent commit did to rows that depend on others is known only
    /// where the commit is a step of its own. Stops early where the store cannot be read.
    func walk(to newest: Snapshot) {
        var crossed: [SkipRecord] = []
        // Each is let go of once it is crossed: it holds snapshots.
        var waiting = Array(inbox.skips(upTo: newest.version).reversed())
        while let skip = waiting.popLast() {
            if skip.record.version <= snapshot.version { continue }
            // It is completed before anyone else can commit, so one that is not yet is the last.
            guard skip.isHeld, let after = skip.record.version == newest.version ? newest : skip.after else {
                crossed.append(skip.record)
                continue
            }
            if let before = skip.before {
                guard step(to: before, crossed) else { return }
                crossed = []
            }
            guard step(to: after, crossed + [skip.record]) else { return }
            crossed = []
        }
        _ = step(to: newest, crossed)
    }

    /// Goes to a version in one step, unless upkeep stands there or further already.
    /// - Parameter skips: the silent commits that this step crosses.
    /// - Returns: false where the store cannot be read, and upkeep stands where it stood.
    private func step(to newest: Snapshot, _ skips: [SkipRecord]) -> Bool {
        let old = snapshot
        guard newest.version > old.version else { return true }
        update(from: old, to: newest, skips)
        if let error = old.failure ?? newest.failure { return abandon(error, from: old) }
        deliver(newest, skips)
        return true
    }

    private func deliver(_ newest: Snapshot, _ skips: [SkipRecord]) {
        connections.deliver(newest, isNew: true, skips)
        inbox.forgetSkips(upTo: newest.version)
        if let slot { storage.page.setVersion(newest.version, ofSlot: slot) }
    }

    /// Ends all observers of collections with what the engine has reported: what was made of such reads is worth nothing.
    /// Those of single objects go on where the log tells them enough, and end with the error too where it does not. Whoever
    /// observes again has everything evaluated anew.
    /// - Returns: false where the store cannot be read at all, and upkeep stands where it stood.
    private func abandon(_ error: StoreError, from old: Snapshot) -> Bool {
        func skips(upTo newest: Snapshot) -> [SkipRecord] { inbox.skips(upTo: newest.version).map(\.record) }
        connections.discard()
        plannedSkips = [:]
        fail(tables.values.flatMap(\.evaluatedTrees), error)
        snapshot = old
        do {
            let newest = try storage.openSnapshot()
            let isTold = update(from: old, to: newest, skips(upTo: newest))
            if isTold, newest.failure == nil {
                deliver(newest, skips(upTo: newest))
                return true
            }
            connections.discard()
            // One that nothing has been read from yet: the next step begins there.
            snapshot = try storage.openSnapshot()
            for watch in tables.values.flatMap(\.allWatches) {
                connections.add(ObjectUpdate(watch.object, failure: error), to: watch.connection)
            }
            deliver(snapshot, skips(upTo: snapshot))
            return true
        } catch {
            // The next wake-up, or the poll, begins at the old version again: nothing is lost.
            connections.discard()
            snapshot = old
            Logger(label: "stillingwell").error("upkeep cannot read the store and will try again: \(error)")
            return false
        }
    }

    /// Ends all observers of collections and objects with the error: the store cannot be read until it is opened again. Callers of
    /// `refresh()` go on.
    func lose(_ error: StoreError) {
        let trees = tables.values.flatMap(\.evaluatedTrees)
        let watches = tables.values.flatMap(\.allWatches)
        if !trees.isEmpty || !watches.isEmpty {
            Logger(label: "stillingwell").error("upkeep cannot read the store, and ends its observers: \(error)")
        }
        connections.discard()
        plannedSkips = [:]
        fail(trees, error)
        for watch in watches {
            watch.connection.mailbox.put([.object(ObjectUpdate(watch.object, failure: error))])
            unwatch(watch.object)
        }
        endRefreshes()
    }

    /// Takes trees and watched objects from one snapshot to the next, and gathers the mail.
    /// - Returns: whether the log told what has changed.
    @discardableResult
    private func update(from old: Snapshot, to newest: Snapshot, _ skips: [SkipRecord]) -> Bool {
        let changes = NetChanges(from: old, to: newest, wanted: { self.wanted($0) }, allWanted: { self.allWanted() })
        snapshot = newest
        var dependants = dependencies.isEmpty ? [:] : dependencies.find(changes, in: newest)
        plannedSkips = skips.isEmpty ? [:] : plan(skips, changes, from: old)
        for planned in plannedSkips.values { planned.subject.1.keepPassing(planned.skips, from: old, to: newest) }
        for change in changes.tables {
            let upkeep = tables[change.table.id]
            let trees = dependants.removeValue(forKey: change.table.id) ?? []
            upkeep?.apply(change.rows, changes, dependants: trees, from: old, to: newest) { publish($0, $1) }
            upkeep?.forEachWatched(change.rows, changes, skips: skips, from: old, to: newest) { watch, update in
                connections.add(update, to: watch.connection)
            }
        }
        for (table, trees) in dependants {
            tables[table]?.apply([], changes, dependants: trees, from: old, to: newest) { publish($0, $1) }
        }
        if !backlinks.isEmpty {
            backlinks.find(changes, skips, from: old, to: newest) { connections.add($1, to: $0.connection) }
        }
        // Silent changes that leave nothing to tell here still have to reach what their observers were last told.
        for (query, tree) in plannedSkips.values.map(\.subject) { publish(tree, query) }
        plannedSkips = [:]
        return changes.isComplete
    }

    private func wanted(_ table: UInt32) -> Table? {
        if let upkeep = tables[table] { return upkeep.table }
        return dependencies.isWatched(table) || backlinks.isWatched(table) ? storage.tablesByID[table] : nil
    }

    private func allWanted() -> [Table] {
        let others = Set(dependencies.tables.map(\.id) + backlinks.tables).subtracting(tables.keys)
        return tables.values.map(\.table) + others.compactMap { storage.tablesByID[$0] }
    }

    /// Adds a query's new root to the mail of everyone who watches it.
    func publish(_ tree: SharedTree, _ query: LiveQuery) {
        guard let ranked = tree.tree else { return }
        let skips = plannedSkips.isEmpty ? nil : plannedSkips.removeValue(forKey: ObjectIdentifier(query))?.skips
        var known: KnownChanges?
        for subscription in query.subscriptions {
            var ahead: KnownChanges?
            if let sent = subscription.sent, subscription.connection.isIdle {
                // Observers of one query were mostly sent the same root: one change set serves them all.
                if known?.from.isIdentical(to: sent) != true {
                    known =
                        tree.changes(from: sent, of: query)
                        ?? KnownChanges(from: sent, connections.changes(from: sent, to: ranked, in: query.window))
                }
                ahead = known
            }
            subscription.sent = ranked
            connections.add(
                RootUpdate(
                    query: subscription.query, attachment: subscription.attachment, tree: ranked, ahead: ahead,
                    skips: skips),
                to: subscription.connection)
        }
    }
}
