// The upkeep thread of an open store (`StoreCore`), which its first live connection starts. It keeps every live query
// current:
//
//     sleep until woken → open the newest snapshot → read the log up to it → route each changed row through the
//     query index → update each touched tree → one mailbox update per connection → post
//
// It takes no write lock and waits for no observer. Other threads use `inbox`, constants and atomics; everything else
// belongs to the upkeep thread.
import Logging
import StillingWellSync
import Synchronization

final class Upkeep: Sendable {
    /// Versions after which lagging connections get a newer snapshot: an old one pins the pages of its version.
    private static let maxLagVersions = SharedPage.Bell.slowInterval
    /// Time in ns between two looks for commits whose writer was killed before it rang the bell.
    static let pollNs: Int64 = 1_000_000_000
    static let nowNs: @Sendable () -> Int64 = { monotonicNs() }

    let storage: Storage
    /// Time between two polls. Nil: upkeep ignores the clock.
    private let pollNs: Int64?
    private let nowNs: @Sendable () -> Int64
    let evaluator: Evaluator
    let inbox = UpkeepInbox()
    /// Whether upkeep wakes after a number of commits. If not, writers tend held versions in its place.
    let hearsCommits = Atomic(true)
    private let thread = SetOnce<TracedThread>()

    // The thread's own.
    let snapshot: DeliveryBound<Snapshot>
    let tables = DeliveryBound<[UInt32: TableUpkeep]>([:])
    let dependencies: DeliveryBound<Dependencies>
    let backlinks = DeliveryBound(BacklinkWatches())
    let connections = DeliveryBound(ConnectionList())
    let slot: Int?
    private let lastOfferVersion: DeliveryBound<UInt64>
    private let lastOfferNs: DeliveryBound<Int64>
    private let unserved: DeliveryBound<UnservedPlaces>
    /// Effects of the current step's suppressing commits on the queries of the observers that they name.
    let plannedSkips = DeliveryBound<[ObjectIdentifier: PlannedSkips]>([:])
    /// First roots (Upkeep+FirstRoots.swift) to deliver at older versions.
    let holds = DeliveryBound<[Hold]>([])
    /// Trees to evaluate after the arrived messages have been handled.
    private let waiting = DeliveryBound<[SharedTree]>([])
    /// Refreshes that wait for a version.
    private let catchingUp = DeliveryBound<[(mailbox: Mailbox, version: UInt64, reply: CaughtUp)]>([])

    /// Starts the thread at the newest version.
    /// - Throws: `noThread`, and errors of `openSnapshot`.
    init(
        _ storage: Storage, pollNs: Int64? = Upkeep.pollNs, nowNs: @escaping @Sendable () -> Int64 = Upkeep.nowNs
    ) throws(StoreError) {
        (self.storage, self.pollNs, self.nowNs) = (storage, pollNs, nowNs)
        evaluator = Evaluator(storage)
        dependencies = DeliveryBound(Dependencies(storage))
        let newest = try storage.openSnapshot()
        snapshot = DeliveryBound(newest)
        slot = storage.page.claimSlot()
        lastOfferVersion = DeliveryBound(newest.version)
        let now = nowNs()
        lastOfferNs = DeliveryBound(now)
        unserved = DeliveryBound(UnservedPlaces(nowNs: now))
        do throws(StoreError) {
            thread.set(try StoreError.starting("well-upkeep") { [self] in run() })
        } catch {
            if let slot { storage.page.releaseSlot(slot) }
            throw error
        }
    }

    // MARK: From other threads

    func send(_ message: Message) {
        inbox.put([message])
        storage.page.ringAll()
    }

    /// Waits until a connection's mail is at `version` and contains the first root, or the failure, of every query that
    /// it observes. Returns earlier if upkeep ends or cannot read the store. Must not be called on the upkeep thread.
    func catchUp(_ mailbox: Mailbox, to version: UInt64) {
        let reply = CaughtUp()
        guard inbox.put([.catchUp(mailbox, version, reply)]) else { return }
        storage.page.ringAll()
        reply.wait(for: thread.known?.resource)
    }

    /// Waits after a suppressing commit while too many suppressing commits hold snapshots for upkeep. Returns at once
    /// if upkeep has ended, and on its own thread, where user code may have written. Must not be called with a lock of
    /// the store held.
    func waitForRoom() {
        guard inbox.isFull, thread.known?.isCurrent != true else { return }
        // Upkeep may be asleep if there are no observers.
        storage.page.ringAll()
        inbox.waitForRoom(thread.known?.resource)
    }

    /// Forgets a connection that has ended, with everything it observed.
    func disconnect(_ mailbox: Mailbox, _ queries: [QueryHandle], _ objects: [ObjectHandle]) {
        inbox.put(queries.map { .detach($0) } + objects.map { .unwatch($0) } + [.disconnect(mailbox)])
        storage.page.ringAll()
    }

    /// Ends the thread and waits for it, unless called on the thread itself, as when that releases the last reference.
    /// Then ends the evaluator.
    func stop() {
        inbox.close()
        storage.page.wakeAll()
        thread.known?.joinOrDetach()
        evaluator.stop()
    }

    // MARK: The loop

    private func run() {
        while true {
            let bell = bell
            let seen = storage.page.count(bell)
            let (arrived, isLast) = inbox.take()
            if isLast {
                for case .catchUp(_, _, let reply) in arrived { reply.signal() }
                break
            }
            if snapshot.value.isAsleep { goOn() }
            handle(arrived)
            advance()
            bringHeld()
            answerRefreshes()
            guard inbox.isQuiet else { continue }
            if !isWatching { rest() }
            // If `bell` has changed, events of the other bell are checked first.
            if self.bell == bell {
                hearsCommits.store(bell != .own, ordering: .sequentiallyConsistent)
                storage.page.wait(for: bell, since: seen, timeoutNs: pollNs ?? -1)
                hearsCommits.store(true, ordering: .sequentiallyConsistent)
            }
        }
        endRefreshes()
        if let slot { storage.page.releaseSlot(slot) }
    }

    /// The event to wait for. Without observers, occasional commits are enough to release old versions. Without held
    /// versions either, no commit matters: holding one rings the bell, or is found at the next poll.
    private var bell: SharedPage.Bell {
        if isWatching { return .everyCommit }
        return pollNs == nil || storage.pins.isHolding ? .slow : .own
    }

    /// Whether every commit matters to an observer.
    private var isWatching: Bool { !tables.value.isEmpty || !connections.value.storeObservers.isEmpty }

    /// Publishes the newest version, if there is a newer one.
    private func advance() {
        let newest: Snapshot
        do throws(StoreError) {
            newest = try storage.openSnapshot()
        } catch  where error.endsReading {
            return lose(error)
        } catch {
            // The next wake-up or poll reads the same log, so nothing is lost.
            Logger(label: "stillingwell").error("upkeep cannot read the store and will try again: \(error)")
            return
        }
        if newest.version > snapshot.value.version {
            // Observers named by suppressing commits of this step were announced before those commits were visible.
            handle(inbox.take().messages)
        }
        if newest.version > snapshot.value.version { walk(to: newest) }
        let now = nowNs()
        offerToLagging(now)
        if pollNs == nil { return }
        for message in unserved.value.look(connections.value.all, nowNs: now) {
            Logger(label: "stillingwell").warning("\(message)")
        }
    }

    /// Sends the newest snapshot to all connections that hold a version, and tends held versions, once enough versions
    /// or time have passed since the last call that did.
    private func offerToLagging(_ now: Int64) {
        guard snapshot.value.version > lastOfferVersion.value,
            snapshot.value.version - lastOfferVersion.value >= Self.maxLagVersions
                || now - lastOfferNs.value >= pollNs ?? .max
        else { return }
        lastOfferVersion.value = snapshot.value.version
        lastOfferNs.value = now
        connections.value.offer(snapshot.value)
        storage.tendHeldVersions(newest: snapshot.value.version)
    }

    // MARK: Messages

    private func handle(_ arrived: [Message]) {
        if arrived.isEmpty { return }
        for message in arrived { handle(message) }
        evaluateWaiting()
        connections.value.deliver(snapshot.value, isNew: false)
        bringHeld()
    }

    private func handle(_ message: Message) {
        switch message {
        case .connect(let mailbox): connections.value.add(mailbox)
        case .disconnect(let mailbox): connections.value.remove(mailbox)
        case .attach(let mailbox, let query, let attachment): attach(mailbox, query, attachment)
        case .detach(let query): detach(query)
        case .hold(let mailbox, let query, let attachment, let at):
            hold(Hold(mailbox: mailbox, query: query, attachment: attachment, at: at))
        case .watch(let mailbox, let token, let seen, let at): watch(mailbox, token, seen: seen, at: at)
        case .unwatch(let token): unwatch(token)
        case .observeStore(let mailbox, let observes):
            if !isWatching, let slot { storage.page.setVersion(snapshot.value.version, ofSlot: slot) }
            if let connection = connections.value[mailbox] { connections.value.setObservesStore(observes, connection) }
            restIfIdle()
        case .catchUp(let mailbox, let version, let reply): catchingUp.value.append((mailbox, version, reply))
        case .evaluated(let trees, let at): adopt(trees, at)
        case .failed(let trees, let error): fail(trees, error)
        case .measure(let query, let attachment, let column): measure(query, attachment, column)
        case .measured(let tree, let earlier, let measured): take(measured, for: tree, madeOf: earlier)
        }
    }

    /// Live query and tree of a connection's query, or nil if upkeep does not keep it any more.
    func live(_ query: QueryHandle) -> (LiveQuery, SharedTree)? {
        guard let tree = tables.value[query.plan.tree.table]?.existingTree(query.plan.tree) else { return nil }
        for case let live? in tree.queries.value where live.plan == query.plan { return (live, tree) }
        return nil
    }

    private func attach(_ mailbox: Mailbox, _ query: QueryHandle, _ attachment: Int) {
        guard let connection = connections.value[mailbox], let table = storage.tablesByID[query.plan.tree.table] else {
            return
        }
        let upkeep = upkeep(of: table)
        let (tree, isNew) = upkeep.tree(query.plan.tree)
        let live = tree.query(query.plan)
        live.subscriptions.value.append(
            Subscription(connection, query, attachment: attachment, sent: tree.tree.value))
        if isNew { waiting.value.append(tree) }
        if let ranked = tree.tree.value {
            connections.value.add(RootUpdate(query: query, attachment: attachment, tree: ranked), to: connection)
        }
    }

    /// Starts to evaluate all waiting trees together.
    private func evaluateWaiting() {
        if waiting.value.isEmpty { return }
        let trees = waiting.value.filter { !$0.isDropped.load(ordering: .relaxed) }
        waiting.value = []
        if !trees.isEmpty { evaluator.evaluate(trees) { [weak self] in self?.send($0) } }
    }

    private func detach(_ query: QueryHandle) {
        guard let upkeep = tables.value[query.plan.tree.table] else { return }
        let (tree, isNew) = upkeep.tree(query.plan.tree)
        let live = tree.query(query.plan)
        let index = live.subscriptions.value.firstIndex { $0.query === query }
        let gone = index.map { live.subscriptions.value.remove(at: $0) }
        if live.subscriptions.value.isEmpty, tree.drop(live) || isNew { return drop(tree, upkeep) }
        if let gone, gone.measured != 0 { measure(tree) }
    }

    private func drop(_ tree: SharedTree, _ upkeep: TableUpkeep) {
        upkeep.drop(tree)
        dependencies.value.drop(tree)
        forget(upkeep)
    }

    private func upkeep(of table: Table) -> TableUpkeep {
        if let known = tables.value[table.id] { return known }
        if !isWatching, let slot { storage.page.setVersion(snapshot.value.version, ofSlot: slot) }
        let upkeep = TableUpkeep(table)
        tables.value[table.id] = upkeep
        return upkeep
    }

    /// Removes the state of a table without observers.
    private func forget(_ upkeep: TableUpkeep) {
        if upkeep.isEmpty { tables.value[upkeep.table.id] = nil }
        restIfIdle()
    }

    /// Stops the log from being kept for upkeep if there are no observers.
    private func restIfIdle() {
        if !isWatching, let slot { storage.page.setVersion(SharedPage.noVersion, ofSlot: slot) }
    }

    /// - Parameters:
    ///   - seen: the row at `object.since`.
    ///   - at: the snapshot of that version, for an object with backlinks.
    private func watch(_ mailbox: Mailbox, _ object: ObjectHandle, seen: [UInt8], at: Snapshot?) {
        guard let connection = connections.value[mailbox] else { return }
        let watch = ObjectWatch(connection: connection, object: object, seen: seen)
        upkeep(of: object.table).watch(watch, at: snapshot.value.version)
        if let at, let missed = backlinks.value.watch(watch, seen: at, now: snapshot.value) {
            connections.value.add(missed, to: connection)
        }
        // The connection may be behind upkeep: changes since then are in no later step.
        guard object.since < snapshot.value.version else { return }
        let missed = entries(of: object, seen: seen)
        if !missed.isEmpty { connections.value.add(ObjectUpdate(object, missed), to: connection) }
    }

    /// Changes of an object since its observer was added. If the log does not list them, found by comparing values.
    private func entries(of object: ObjectHandle, seen: [UInt8]) -> [ObjectChangeEntry] {
        if let changes = snapshot.value.changes(after: object.since) {
            return changes.filter { $0.entry.table == object.table.id && $0.entry.id == object.id.rawValue }
                .map { ObjectChangeEntry($0, []) }
        }
        let entry = seen.withUnsafeBytes { ObjectChangeEntry(object, from: RowReader($0), to: snapshot.value) }
        // A row that could not be read is no deletion. The next step reports the failure.
        return snapshot.value.failure == nil ? entry.map { [$0] } ?? [] : []
    }

    func unwatch(_ object: ObjectHandle) {
        if !object.backlinks.isEmpty { backlinks.value.unwatch(object) }
        guard let upkeep = tables.value[object.table.id] else { return }
        upkeep.unwatch(object)
        forget(upkeep)
    }

    /// Signals callers of `refresh()` whose mail is complete.
    private func answerRefreshes() {
        guard !catchingUp.value.isEmpty else { return }
        let asked = catchingUp.value
        catchingUp.value = asked.filter { $0.version > snapshot.value.version || awaitsFirstRoot($0.mailbox) }
        let ready = asked.filter { waiting in !catchingUp.value.contains { $0.reply === waiting.reply } }
        for waiting in ready {
            connections.value.offer(snapshot.value, to: waiting.mailbox)
            waiting.reply.signal()
        }
    }

    /// Whether a query that a connection observes has not been evaluated yet.
    private func awaitsFirstRoot(_ mailbox: Mailbox) -> Bool {
        tables.value.values.contains { $0.unevaluated.contains { $0.isObserved(by: mailbox) } }
    }

    /// Signals all callers of `refresh()` to continue without mail.
    func endRefreshes() {
        for waiting in catchingUp.value { waiting.reply.signal() }
        catchingUp.value = []
    }

    /// Takes over trees that were evaluated, possibly at another version than the current one.
    private func adopt(_ trees: [(SharedTree, RankedTree)], _ at: Snapshot) {
        if at.version > snapshot.value.version { walk(to: at) }
        if at.version > snapshot.value.version {
            // The store cannot be read up to there. A new evaluation follows, or fails with the reason.
            waiting.value += trees.map(\.0).filter { tables.value[$0.table.id]?.isWanted($0) == true }
            return
        }
        for (tree, ranked) in trees {
            guard let upkeep = tables.value[tree.table.id], upkeep.isWanted(tree) else { continue }
            tree.tree.value = ranked
            var error: StoreError?
            if !tree.early.value.isEmpty {
                error = replay(tree, from: at)
            } else if at.version < snapshot.value.version {
                tree.move(from: at, to: snapshot.value)
            }
            if let error = error ?? at.failure ?? snapshot.value.failure {
                plannedSkips.value = [:]
                fail([tree], error)
                continue
            }
            upkeep.admit(tree)
            dependencies.value.admit(tree)
            for case let query? in tree.queries.value { publish(tree, query) }
        }
    }

    /// Reports an error to all subscriptions of the trees and drops the trees. A new subscription evaluates them again.
    func fail(_ trees: [SharedTree], _ error: StoreError) {
        for tree in trees {
            guard let upkeep = tables.value[tree.table.id], upkeep.isWanted(tree) else { continue }
            for subscription in tree.queries.value.compactMap(\.self).flatMap({ $0.subscriptions.value }) {
                let failure = QueryFailure(query: subscription.query, attachment: subscription.attachment, error: error)
                subscription.connection.mailbox.put([.query(failure)])
            }
            drop(tree, upkeep)
        }
    }
}
