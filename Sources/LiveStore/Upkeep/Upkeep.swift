// The one background thread of a store in a process. It keeps every live query true:
//
//     sleep on the bell → open the newest snapshot → read the log up to it → route each changed row through the
//     query index → update each touched tree → one mailbox update per connection → post
//
// It takes no write lock and waits for nobody. `inbox` (a leaf) guards `messages` and `isStopped`; everything else
// belongs to the thread.
import Logging
import TracedSync

final class Upkeep: @unchecked Sendable {
    enum Message {
        case connect(Mailbox)
        case disconnect(Mailbox)
        case attach(Mailbox, ConnectionQuery, attachment: Int)
        case detach(ConnectionQuery)
        case evaluated([(SharedTree, RankedTree)], Snapshot)
        case failed([SharedTree], StoreError)
    }

    /// Snapshots of connections that watch are renewed when they lag so far: each pins the pages of its version.
    private static let maxLagVersions: UInt64 = 256
    /// A writer killed between its commit and the bell is noticed after this long at the latest.
    private static let pollNs: Int64 = 1_000_000_000

    private let storage: Storage
    private let evaluator: Evaluator
    private let inbox = TracedMutex("upkeep inbox")
    private var messages: [Message] = []
    private var isStopped = false
    private var thread: TracedThread?

    // The thread's own.
    private var snapshot: Snapshot
    private var tables: [UInt32: TableUpkeep] = [:]
    private var connections = ConnectionList()
    private var slot: Int?
    private var lastOfferVersion: UInt64
    private var lastOfferNs: Int64

    /// Starts the thread at the newest version.
    init(_ storage: Storage) throws(StoreError) {
        self.storage = storage
        evaluator = Evaluator(storage)
        snapshot = try storage.openSnapshot()
        // Last, because it would not be given back if something threw after it.
        slot = storage.page.claimSlot()
        lastOfferVersion = snapshot.version
        lastOfferNs = monotonicNs()
        thread = TracedThread("livestore-upkeep") { [self] in run() }
    }

    // MARK: From other threads

    func send(_ message: Message) {
        inbox.withLock { messages.append(message) }
        storage.page.ringAll()
    }

    /// Forgets a connection that has ended, with the queries it observed.
    func disconnect(_ mailbox: Mailbox, _ queries: [ConnectionQuery]) {
        inbox.withLock { messages += queries.map { .detach($0) } + [.disconnect(mailbox)] }
        storage.page.ringAll()
    }

    /// Ends the thread and waits for it. It waits for nobody, so this does not take long. On the thread itself, where the
    /// last reference to something of the user's may have gone, it ends later.
    func stop() {
        inbox.withLock { isStopped = true }
        storage.page.ringAll()
        thread?.joinOrDetach()
        thread = nil
        evaluator.stop()
    }

    // MARK: The loop

    private func run() {
        while true {
            // Where nobody observes, every 256th commit is soon enough to let go of old versions.
            let bell: SharedPage.Bell = tables.isEmpty ? .slow : .everyCommit
            let seen = storage.page.count(bell)
            let (arrived, stop) = takeMessages()
            if stop { break }
            for message in arrived { handle(message) }
            if !arrived.isEmpty { connections.deliver(snapshot) }
            advance()
            if inbox.withLock({ messages.isEmpty && !isStopped }), tables.isEmpty == (bell == .slow) {
                storage.page.wait(for: bell, since: seen, timeoutNs: Self.pollNs)
            }
        }
        if let slot { storage.page.releaseSlot(slot) }
    }

    private func takeMessages() -> ([Message], Bool) {
        inbox.withLock {
            defer { messages = [] }
            return (messages, isStopped)
        }
    }

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
        if newest.version > snapshot.version { step(to: newest) }
        offerToLagging()
    }

    private func step(to newest: Snapshot) {
        let old = snapshot
        let changes = NetChanges(
            from: old, to: newest, wanted: { self.tables[$0]?.table }, allWanted: { self.tables.values.map(\.table) })
        snapshot = newest
        for change in changes.tables {
            tables[change.table.id]?.apply(change.rows, from: old, to: newest) { tree, query in
                publish(tree, query)
            }
        }
        connections.deliver(newest)
        if let slot { storage.page.setVersion(newest.version, ofSlot: slot) }
    }

    /// Adds a query's new root to the mail of everyone who watches it.
    private func publish(_ tree: SharedTree, _ query: LiveQuery) {
        guard let ranked = tree.tree else { return }
        var known: KnownChanges?
        for index in query.subscriptions.indices {
            let subscription = query.subscriptions[index]
            var update = RootUpdate(query: subscription.query, attachment: subscription.attachment, tree: ranked)
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
        case .evaluated(let trees, let at): adopt(trees, at)
        case .failed(let trees, let error): fail(trees, error)
        }
    }

    private func attach(_ mailbox: Mailbox, _ query: ConnectionQuery, _ attachment: Int) {
        guard let table = storage.tablesByID[query.plan.tree.table], let connection = connections[mailbox] else {
            return
        }
        if tables.isEmpty, let slot { storage.page.setVersion(snapshot.version, ofSlot: slot) }
        let upkeep = tables[table.id] ?? TableUpkeep(table)
        tables[table.id] = upkeep
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
        if upkeep.isEmpty { tables[upkeep.table.id] = nil }
        if tables.isEmpty, let slot { storage.page.setVersion(SharedPage.noVersion, ofSlot: slot) }
    }

    /// Takes over trees evaluated at another version than the current one.
    private func adopt(_ trees: [(SharedTree, RankedTree)], _ at: Snapshot) {
        if at.version > snapshot.version { step(to: at) }
        for (tree, ranked) in trees {
            guard let upkeep = tables[tree.table.id], upkeep.isWanted(tree) else { continue }
            tree.tree = ranked
            if at.version < snapshot.version { catchUp(tree, from: at) }
            upkeep.admit(tree)
            for case let query? in tree.queries { publish(tree, query) }
        }
    }

    private func catchUp(_ tree: SharedTree, from at: Snapshot) {
        let changes = NetChanges(
            from: at, to: snapshot, wanted: { $0 == tree.table.id ? tree.table : nil }, allWanted: { [tree.table] })
        for row in changes.tables.flatMap(\.rows) {
            _ = tree.note(
                row.id, old: at.row(tree.table, row.id), new: snapshot.row(tree.table, row.id), stamp: snapshot.version)
        }
        tree.applyNoted { _ in }
    }

    /// Tells everyone who waits for the trees, and forgets them: whoever observes again has them evaluated again.
    private func fail(_ trees: [SharedTree], _ error: StoreError) {
        for tree in trees {
            guard let upkeep = tables[tree.table.id], upkeep.isWanted(tree) else { continue }
            for subscription in tree.queries.compactMap(\.self).flatMap(\.subscriptions) {
                let failure = QueryFailure(
                    query: subscription.query, attachment: subscription.attachment, error: error)
                subscription.connection.mailbox.put(snapshot, [], failures: [failure])
            }
            drop(tree, upkeep)
        }
    }
}
