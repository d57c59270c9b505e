// Steps of upkeep from one version to the next. One step crosses many commits, unless suppressing ones have to be steps
// of their own. Damage found on the way ends observers.
//
// A suppressing commit stays in the inbox until the step that crossed it is delivered, so a failed step loses none.
// Upkeep thread only.
import Logging

extension Upkeep {
    /// Moves to a version in one step or several: some suppressing commits have to be a step of their own
    /// (`SilencedObserver.needsOwnStep`). Stops early if the store cannot be read.
    func walk(to newest: Snapshot) {
        var crossed: [SkipRecord] = []
        // Each is released once it is crossed, because it holds snapshots.
        var waiting = Array(inbox.skips(upTo: newest.version).reversed())
        while let skip = waiting.popLast() {
            if skip.record.version <= snapshot.value.version { continue }
            // An incomplete commit is the last one, unless its snapshot could not be taken.
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

    /// Moves to a version in one step, unless upkeep is there or further.
    /// - Parameter skips: the suppressing commits that this step crosses.
    /// - Returns: false if the store cannot be read. Upkeep then stays where it was.
    private func step(to newest: Snapshot, _ skips: [SkipRecord]) -> Bool {
        let old = snapshot.value
        guard newest.version > old.version else { return true }
        update(from: old, to: newest, skips)
        if let error = old.failure ?? newest.failure { return abandon(error, from: old) }
        deliver(newest, skips)
        return true
    }

    private func deliver(_ newest: Snapshot, _ skips: [SkipRecord]) {
        connections.value.deliver(newest, isNew: true, skips)
        inbox.forgetSkips(upTo: newest.version)
        if let slot { storage.page.setVersion(newest.version, ofSlot: slot) }
    }

    /// Ends all observers of collections with a failure to read, because results of such reads are invalid. Observers
    /// of single objects go on if the log has their changes and these can be read, else they end too. Those with
    /// backlinks also end if `old` has failed. A new observer is evaluated from scratch.
    /// - Returns: false if the store cannot be read at all. Upkeep then stays where it was.
    private func abandon(_ error: StoreError, from old: Snapshot) -> Bool {
        func skips(upTo newest: Snapshot) -> [SkipRecord] { inbox.skips(upTo: newest.version).map(\.record) }
        connections.value.discard()
        plannedSkips.value = [:]
        fail(tables.value.values.flatMap(\.evaluatedTrees), error)
        snapshot.value = old
        do {
            let newest = try storage.openSnapshot()
            let isTold = update(from: old, to: newest, skips(upTo: newest))
            if isTold, newest.failure == nil {
                deliver(newest, skips(upTo: newest))
                return true
            }
            connections.value.discard()
            // A snapshot without failed reads, at which the next step begins.
            snapshot.value = try storage.openSnapshot()
            for watch in tables.value.values.flatMap(\.allWatches) {
                connections.value.add(ObjectUpdate(watch.object, failure: error), to: watch.connection)
            }
            deliver(snapshot.value, skips(upTo: snapshot.value))
            return true
        } catch {
            // The next wake-up or poll begins at the old version again, so nothing is lost.
            connections.value.discard()
            snapshot.value = old
            Logger(label: "stillingwell").error("upkeep cannot read the store and will try again: \(error)")
            return false
        }
    }

    /// Ends the observers of objects and of evaluated collections with an error, because the store cannot be read until
    /// it is reopened. Callers of `refresh()` continue.
    func lose(_ error: StoreError) {
        let trees = tables.value.values.flatMap(\.evaluatedTrees)
        let watches = tables.value.values.flatMap(\.allWatches)
        if !trees.isEmpty || !watches.isEmpty {
            Logger(label: "stillingwell").error("upkeep cannot read the store, and ends its observers: \(error)")
        }
        connections.value.discard()
        plannedSkips.value = [:]
        fail(trees, error)
        for watch in watches {
            watch.connection.mailbox.put([.object(ObjectUpdate(watch.object, failure: error))])
            unwatch(watch.object)
        }
        endRefreshes()
    }

    /// Moves trees and watched objects from one snapshot to the next, and gathers the mail.
    /// - Returns: whether the log had all changes.
    @discardableResult
    private func update(from old: Snapshot, to newest: Snapshot, _ skips: [SkipRecord]) -> Bool {
        let changes = NetChanges(from: old, to: newest, wanted: { self.wanted($0) }, allWanted: { self.allWanted() })
        snapshot.value = newest
        var dependants = dependencies.value.isEmpty ? [:] : dependencies.value.find(changes, in: newest)
        plannedSkips.value = skips.isEmpty ? [:] : plan(skips, changes, from: old)
        for planned in plannedSkips.value.values { planned.subject.1.keepPassing(planned.skips, from: old, to: newest) }
        for change in changes.tables {
            let upkeep = tables.value[change.table.id]
            let trees = dependants.removeValue(forKey: change.table.id) ?? []
            upkeep?.apply(change.rows, changes, dependants: trees, from: old, to: newest) { publish($0, $1) }
            upkeep?.forEachWatched(change.rows, changes, skips: skips, from: old, to: newest) { watch, update in
                connections.value.add(update, to: watch.connection)
            }
        }
        for (table, trees) in dependants {
            tables.value[table]?.apply([], changes, dependants: trees, from: old, to: newest) { publish($0, $1) }
        }
        if !backlinks.value.isEmpty {
            backlinks.value.find(changes, skips, from: old, to: newest) { connections.value.add($1, to: $0.connection) }
        }
        // A suppressed change without an update still has to correct what its observers were told last.
        for (query, tree) in plannedSkips.value.values.map(\.subject) { publish(tree, query) }
        plannedSkips.value = [:]
        return changes.isComplete
    }

    private func wanted(_ table: UInt32) -> Table? {
        if let upkeep = tables.value[table] { return upkeep.table }
        return dependencies.value.isWatched(table) || backlinks.value.isWatched(table) ? storage.tablesByID[table] : nil
    }

    private func allWanted() -> [Table] {
        let others = Set(dependencies.value.tables.map(\.id) + backlinks.value.tables).subtracting(tables.value.keys)
        return tables.value.values.map(\.table) + others.compactMap { storage.tablesByID[$0] }
    }

    /// Adds a query's new root to the mail of all its subscriptions.
    func publish(_ tree: SharedTree, _ query: LiveQuery) {
        guard let ranked = tree.tree.value else { return }
        let skips =
            plannedSkips.value.isEmpty ? nil : plannedSkips.value.removeValue(forKey: ObjectIdentifier(query))?.skips
        var known: KnownChanges?
        for subscription in query.subscriptions.value {
            var ahead: KnownChanges?
            if let sent = subscription.sent.value, subscription.connection.isIdle {
                // Most subscriptions of a query were sent the same root, so they share one change set.
                if known?.from.isIdentical(to: sent) != true {
                    known =
                        tree.changes(from: sent, of: query)
                        ?? KnownChanges(from: sent, connections.value.changes(from: sent, to: ranked, in: query.window))
                }
                ahead = known
            }
            subscription.sent.value = ranked
            connections.value.add(
                RootUpdate(
                    query: subscription.query, attachment: subscription.attachment, tree: ranked, ahead: ahead,
                    skips: skips),
                to: subscription.connection)
        }
    }
}
