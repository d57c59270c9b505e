// The one background thread of a store in a process. It keeps every live query true:
//
//     sleep on the bell → open the newest snapshot → read the log up to it → route each changed row through the
//     query index → update each touched tree → one mailbox update per connection → post
//
// It takes no write lock and waits for nobody. Other threads reach it through `inbox` alone; everything else belongs to
// the thread.
import Logging
import TracedSync

final class Upkeep: @unchecked Sendable {
    /// A first root that a connection waits for which stays at an older version.
    private struct Hold {
        let mailbox: Mailbox
        let query: ConnectionQuery
        let attachment: Int
        let at: Snapshot
    }

    /// Snapshots of connections that watch are renewed when they lag so far: each pins the pages of its version.
    private static let maxLagVersions = SharedPage.Bell.slowInterval
    /// A writer killed between its commit and the bell is noticed after this long at the latest.
    private static let pollNs: Int64 = 1_000_000_000

    private let storage: Storage
    private let evaluator: Evaluator
    private let inbox = UpkeepInbox()
    private var thread: TracedThread?
    /// The thread, as reports of waits name it. Written once, in `init`.
    private var worker: TracedResource?

    // The thread's own.
    private(set) var snapshot: Snapshot
    private var tables: [UInt32: TableUpkeep] = [:]
    private(set) var dependencies: Dependencies
    private var connections = ConnectionList()
    private var slot: Int?
    private var lastOfferVersion: UInt64
    private var lastOfferNs: Int64
    /// Of the current step: what silent commits mean for the queries of the observers they name.
    private var plannedSkips: [ObjectIdentifier: PlannedSkips] = [:]
    /// First roots to bring at older versions, when there are any.
    private var holds: [Hold] = []
    /// Refreshes that wait for a version.
    private var catchingUp: [(mailbox: Mailbox, version: UInt64, reply: CaughtUp)] = []

    /// Starts the thread at the newest version.
    /// - Throws: `tooManySnapshots`, `noThread`.
    init(_ storage: Storage) throws(StoreError) {
        self.storage = storage
        evaluator = Evaluator(storage)
        dependencies = Dependencies(storage)
        snapshot = try storage.openSnapshot()
        slot = storage.page.claimSlot()
        lastOfferVersion = snapshot.version
        lastOfferNs = monotonicNs()
        let thread: TracedThread
        do throws(StoreError) {
            thread = try StoreError.starting("livestore-upkeep") { [self] in run() }
        } catch {
            if let slot { storage.page.releaseSlot(slot) }
            throw error
        }
        worker = thread.resource
        self.thread = thread
    }

    // MARK: From other threads

    func send(_ message: Message) {
        inbox.put([message])
        storage.page.ringAll()
    }

    /// Waits until a connection's mail stands at `version`; at once where upkeep has ended. Not in a callback of upkeep's.
    func catchUp(_ mailbox: Mailbox, to version: UInt64) {
        let reply = CaughtUp()
        guard inbox.put([.catchUp(mailbox, version, reply)]) else { return }
        storage.page.ringAll()
        reply.wait(for: worker)
    }

    /// Takes the record of a commit that is about to become visible.
    func announce(_ record: SkipRecord) { inbox.announce(record) }

    /// Takes what the store was like just after that commit; called before anyone else can commit.
    func complete(_ record: SkipRecord, _ after: Snapshot) { inbox.complete(record, after) }

    /// The commit has failed; called before anyone else can commit.
    func withdraw(_ record: SkipRecord) { inbox.withdraw(record) }

    /// Forgets a connection that has ended, with what it observed.
    func disconnect(_ mailbox: Mailbox, _ queries: [ConnectionQuery], _ objects: [ObjectToken]) {
        inbox.put(queries.map { .detach($0) } + objects.map { .unwatch($0) } + [.disconnect(mailbox)])
        storage.page.ringAll()
    }

    /// Ends the thread and waits for it. It waits for nobody, so this does not take long. On the thread itself, where the
    /// last reference to something of the user's may have gone, it ends later.
    func stop() {
        inbox.close()
        storage.page.ringAll()
        thread?.joinOrDetach()
        thread = nil
        evaluator.stop()
    }

    // MARK: The loop

    private func run() {
        while true {
            // Where nobody observes, a commit now and then is soon enough to let go of old versions.
            let bell: SharedPage.Bell = isWatching ? .everyCommit : .slow
            let seen = storage.page.count(bell)
            let (arrived, isLast) = inbox.take()
            if isLast {
                for case .catchUp(_, _, let reply) in arrived { reply.signal() }
                break
            }
            for message in arrived { handle(message) }
            if !arrived.isEmpty { connections.deliver(snapshot, isNew: false) }
            bringHeld()
            advance()
            bringHeld()
            answerRefreshes()
            if inbox.isQuiet, isWatching == (bell == .everyCommit) {
                storage.page.wait(for: bell, since: seen, timeoutNs: Self.pollNs)
            }
        }
        for waiting in catchingUp { waiting.reply.signal() }
        catchingUp = []
        if let slot { storage.page.releaseSlot(slot) }
    }

    /// Whether every commit matters to somebody.
    private var isWatching: Bool { !tables.isEmpty || !connections.storeObservers.isEmpty }

    /// Publishes the newest version, if there is a newer one.
    private func advance() {
        let newest: Snapshot
        do {
            newest = try storage.openSnapshot()
        } catch {
            // Nothing is lost: the next wake-up, or the poll, reads the same log.
            Logger(label: "livestore").error("upkeep cannot read the store and will try again: \(error)")
            return
        }
        if newest.version > snapshot.version {
            // Observers that silent commits of this step name have been announced before those were visible.
            let (arrived, _) = inbox.take()
            for message in arrived { handle(message) }
            if !arrived.isEmpty { connections.deliver(snapshot, isNew: false) }
            bringHeld()
        }
        if newest.version > snapshot.version { walk(to: newest) }
        offerToLagging()
    }

    /// Goes to a version in one step, or in several: what a silent commit did to rows that depend on others is known only
    /// where the commit is a step of its own.
    private func walk(to newest: Snapshot) {
        var crossed: [SkipRecord] = []
        for skip in inbox.takeSkips(upTo: newest.version) {
            // It is completed before anyone else can commit, so one that is not yet is the last.
            if let before = skip.record.before, let after = skip.record.version == newest.version ? newest : skip.after
            {
                if before.version > snapshot.version { step(to: before, crossed) }
                step(to: after, [skip.record])
                crossed = []
            } else {
                crossed.append(skip.record)
            }
        }
        if newest.version > snapshot.version { step(to: newest, crossed) }
    }

    /// - Parameter skips: the silent commits that this step crosses.
    private func step(to newest: Snapshot, _ skips: [SkipRecord]) {
        let old = snapshot
        update(from: old, to: newest, skips)
        if let error = old.failure ?? newest.failure { return abandon(error, from: old, skips) }
        deliver(newest, skips)
    }

    private func deliver(_ newest: Snapshot, _ skips: [SkipRecord]) {
        connections.deliver(newest, isNew: true, skips)
        if let slot { storage.page.setVersion(newest.version, ofSlot: slot) }
    }

    /// Ends all observers of collections with what the engine has reported: what was made of such reads is worth nothing.
    /// Those of single objects go on where the log tells them enough, and end with the error too where it does not. Whoever
    /// observes again has everything evaluated anew.
    private func abandon(_ error: StoreError, from old: Snapshot, _ skips: [SkipRecord]) {
        connections.discard()
        plannedSkips = [:]
        fail(tables.values.flatMap(\.evaluatedTrees), error)
        snapshot = old
        do {
            let newest = try storage.openSnapshot()
            let skips = skips + inbox.takeSkips(upTo: newest.version).map(\.record)
            let isTold = update(from: old, to: newest, skips)
            if isTold, newest.failure == nil { return deliver(newest, skips) }
            connections.discard()
            // One that nothing has been read from yet: the next step begins there.
            snapshot = try storage.openSnapshot()
            for watch in tables.values.flatMap(\.allWatches) {
                connections.add(ObjectUpdate(watch.token, failure: error), to: watch.connection)
            }
            deliver(snapshot, skips)
        } catch {
            // The next wake-up, or the poll, begins at the old version again: nothing is lost.
            connections.discard()
            Logger(label: "livestore").error("upkeep cannot read the store and will try again: \(error)")
        }
    }

    /// Takes trees and watched objects from one snapshot to the next, and gathers the mail.
    /// - Returns: whether the log told what has changed.
    @discardableResult
    private func update(from old: Snapshot, to newest: Snapshot, _ skips: [SkipRecord]) -> Bool {
        let changes = NetChanges(
            from: old, to: newest, wanted: { self.wanted($0) }, allWanted: { self.allWanted() })
        snapshot = newest
        var dependants = dependencies.isEmpty ? [:] : dependencies.find(changes, in: newest)
        plannedSkips = skips.isEmpty ? [:] : plan(skips, changes, from: old)
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
        // Silent changes that leave nothing to tell here still have to reach what their observers were last told.
        for (query, tree) in plannedSkips.values.map(\.subject) { publish(tree, query) }
        plannedSkips = [:]
        return changes.isComplete
    }

    /// Brings first roots at older versions, as far as they can be made.
    private func bringHeld() {
        if holds.isEmpty { return }
        let asked = holds
        holds = []
        for hold in asked {
            guard let (live, tree) = live(hold.query),
                live.subscriptions.contains(where: { $0.query === hold.query && $0.attachment == hold.attachment })
            else { continue }
            guard hold.at.version <= snapshot.version, let root = tree.root(at: hold.at, from: snapshot) else {
                holds.append(hold)
                continue
            }
            hold.mailbox.put(
                HeldRoot(
                    update: RootUpdate(query: hold.query, attachment: hold.attachment, tree: root),
                    version: hold.at.version))
        }
    }

    private func wanted(_ table: UInt32) -> Table? {
        if let upkeep = tables[table] { return upkeep.table }
        return dependencies.isWatched(table) ? storage.tablesByID[table] : nil
    }

    private func allWanted() -> [Table] {
        tables.values.map(\.table) + dependencies.tables.filter { tables[$0.id] == nil }
    }

    /// Adds a query's new root to the mail of everyone who watches it.
    private func publish(_ tree: SharedTree, _ query: LiveQuery) {
        guard let ranked = tree.tree else { return }
        let skips = plannedSkips.removeValue(forKey: ObjectIdentifier(query))?.skips ?? []
        var known: KnownChanges?
        for index in query.subscriptions.indices {
            let subscription = query.subscriptions[index]
            var update = RootUpdate(query: subscription.query, attachment: subscription.attachment, tree: ranked)
            update.skips = skips
            if let sent = subscription.sent, subscription.connection.isIdle {
                // Observers of one query were mostly sent the same root: one change set serves them all.
                if known?.from.isIdentical(to: sent) != true {
                    known = KnownChanges(from: sent, connections.changes(from: sent, to: ranked, in: query.window))
                }
                update.ahead = known
            }
            query.subscriptions[index].sent = ranked
            connections.add(update, to: subscription.connection)
        }
    }

    /// Hands the newest snapshot to connections whose own one pins an old version.
    private func offerToLagging() {
        let now = monotonicNs()
        guard snapshot.version > lastOfferVersion,
            snapshot.version - lastOfferVersion >= Self.maxLagVersions || now - lastOfferNs >= Self.pollNs
        else { return }
        lastOfferVersion = snapshot.version
        lastOfferNs = now
        connections.offer(snapshot)
    }

    // MARK: Messages

    private func handle(_ message: Message) {
        switch message {
        case .connect(let mailbox): connections.add(mailbox)
        case .disconnect(let mailbox): connections.remove(mailbox)
        case .attach(let mailbox, let query, let attachment): attach(mailbox, query, attachment)
        case .detach(let query): detach(query)
        case .hold(let mailbox, let query, let attachment, let at):
            holds.append(Hold(mailbox: mailbox, query: query, attachment: attachment, at: at))
        case .watch(let mailbox, let token, let seen): watch(mailbox, token, seen: seen)
        case .unwatch(let token): unwatch(token)
        case .observeStore(let mailbox, let observes):
            if !isWatching, let slot { storage.page.setVersion(snapshot.version, ofSlot: slot) }
            if let connection = connections[mailbox] { connections.setObservesStore(observes, connection) }
            restIfIdle()
        case .catchUp(let mailbox, let version, let reply): catchingUp.append((mailbox, version, reply))
        case .evaluated(let trees, let at): adopt(trees, at)
        case .failed(let trees, let error): fail(trees, error)
        }
    }

    /// The live query and the tree behind a connection's query; nil once upkeep does not keep it.
    func live(_ query: ConnectionQuery) -> (LiveQuery, SharedTree)? {
        guard let tree = tables[query.plan.tree.table]?.existingTree(query.plan.tree) else { return nil }
        for case let live? in tree.queries where live.plan == query.plan { return (live, tree) }
        return nil
    }

    private func attach(_ mailbox: Mailbox, _ query: ConnectionQuery, _ attachment: Int) {
        guard let table = storage.tablesByID[query.plan.tree.table], let connection = connections[mailbox] else {
            return
        }
        let upkeep = upkeep(of: table)
        let (tree, isNew) = upkeep.tree(query.plan.tree)
        let live = tree.query(query.plan)
        live.subscriptions.append(
            Subscription(connection: connection, query: query, attachment: attachment, sent: tree.tree))
        if isNew { evaluator.evaluate(tree) { [weak self] in self?.send($0) } }
        if let ranked = tree.tree {
            connections.add(RootUpdate(query: query, attachment: attachment, tree: ranked), to: connection)
        }
    }

    private func detach(_ query: ConnectionQuery) {
        guard let upkeep = tables[query.plan.tree.table] else { return }
        let (tree, isNew) = upkeep.tree(query.plan.tree)
        let live = tree.query(query.plan)
        if let index = live.subscriptions.firstIndex(where: { $0.query === query }) {
            live.subscriptions.remove(at: index)
        }
        if live.subscriptions.isEmpty, tree.drop(live) || isNew { drop(tree, upkeep) }
    }

    private func drop(_ tree: SharedTree, _ upkeep: TableUpkeep) {
        upkeep.drop(tree)
        dependencies.drop(tree)
        forget(upkeep)
    }

    private func upkeep(of table: Table) -> TableUpkeep {
        if let known = tables[table.id] { return known }
        if !isWatching, let slot { storage.page.setVersion(snapshot.version, ofSlot: slot) }
        let upkeep = TableUpkeep(table)
        tables[table.id] = upkeep
        return upkeep
    }

    /// Lets go of a table nobody watches any more.
    private func forget(_ upkeep: TableUpkeep) {
        if upkeep.isEmpty { tables[upkeep.table.id] = nil }
        restIfIdle()
    }

    /// The log need not be kept for a thread that has nobody to tell.
    private func restIfIdle() {
        if !isWatching, let slot { storage.page.setVersion(SharedPage.noVersion, ofSlot: slot) }
    }

    /// - Parameter seen: the row at `token.since`.
    private func watch(_ mailbox: Mailbox, _ token: ObjectToken, seen: [UInt8]) {
        guard let connection = connections[mailbox] else { return }
        let watch = ObjectWatch(connection: connection, token: token, seen: seen)
        upkeep(of: token.table).watch(watch, at: snapshot.version)
        // Its connection may stand behind: what has happened since is in no step to come.
        guard token.since < snapshot.version else { return }
        let missed = entries(of: token, seen: seen)
        if !missed.isEmpty { connections.add(ObjectUpdate(token, missed), to: connection) }
    }

    /// What commits have done to an object since there is its observer. Where the log has been pruned, values tell.
    private func entries(of token: ObjectToken, seen: [UInt8]) -> [ObjectChangeEntry] {
        switch snapshot.changes(after: token.since) {
        case .complete(let changes):
            return changes.filter { $0.entry.table == token.table.id && $0.entry.id == token.id.rawValue }
                .map { ObjectChangeEntry($0, []) }
        case .incomplete:
            let entry = seen.withUnsafeBytes { ObjectChangeEntry(token, from: RowReader($0), to: snapshot) }
            // What could not be read is no deletion; the next step meets the failure.
            return snapshot.failure == nil ? entry.map { [$0] } ?? [] : []
        }
    }

    private func unwatch(_ token: ObjectToken) {
        guard let upkeep = tables[token.table.id] else { return }
        upkeep.unwatch(token)
        forget(upkeep)
    }

    /// Tells those who wait in a refresh that their mail is there.
    private func answerRefreshes() {
        guard !catchingUp.isEmpty else { return }
        let ready = catchingUp.filter { $0.version <= snapshot.version }
        catchingUp.removeAll { $0.version <= snapshot.version }
        for waiting in ready {
            connections.offer(snapshot, to: waiting.mailbox)
            waiting.reply.signal()
        }
    }

    /// Takes over trees evaluated at another version than the current one.
    private func adopt(_ trees: [(SharedTree, RankedTree)], _ at: Snapshot) {
        if at.version > snapshot.version { walk(to: at) }
        for (tree, ranked) in trees {
            guard let upkeep = tables[tree.table.id], upkeep.isWanted(tree) else { continue }
            tree.tree = ranked
            if at.version < snapshot.version { tree.move(from: at, to: snapshot) }
            if let error = at.failure ?? snapshot.failure {
                fail([tree], error)
                continue
            }
            upkeep.admit(tree)
            dependencies.admit(tree)
            for case let query? in tree.queries { publish(tree, query) }
        }
    }

    /// Tells everyone who waits for the trees, and forgets them: whoever observes again has them evaluated again.
    private func fail(_ trees: [SharedTree], _ error: StoreError) {
        for tree in trees {
            guard let upkeep = tables[tree.table.id], upkeep.isWanted(tree) else { continue }
            for subscription in tree.queries.compactMap(\.self).flatMap(\.subscriptions) {
                let failure = QueryFailure(
                    query: subscription.query, attachment: subscription.attachment, error: error)
                subscription.connection.mailbox.put(nil, VersionMail(), failures: [failure])
            }
            drop(tree, upkeep)
        }
    }
}
