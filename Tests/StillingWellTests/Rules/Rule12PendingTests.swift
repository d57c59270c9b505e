// Rule 12 before a first delivery.
import StillingWellFixtures
import StillingWellSync
import Testing

@testable import StillingWell

@Suite("Rule 12: refresh delivers what is observed for the first time")
struct Rule12PendingTests {
    /// Keeps the evaluator's thread busy until it is released.
    private final class HeldEvaluator {
        private let isFree = Watched(false)
        /// Retained, so that the evaluator does not take over its reader.
        private let snapshot: Snapshot

        /// - Parameter feed: a connection whose query is evaluated first, which starts the thread.
        init(_ feed: Feed) throws {
            let notes = try feed.connection.objects(Note.self).where(\.id == -1)
            try feed.observe("none", notes)
            let (key, table) = (notes.query.plan.tree, notes.query.table)
            let isHeld = Watched(false)
            snapshot = try feed.connection.core.storage.openSnapshot()
            try feed.connection.core.startUpkeep().evaluator.measure(
                SharedTree(key, table), try feed.connection.evaluate(key, table), Measures(),
                in: snapshot
            ) { [isFree] _ in
                isHeld.update { $0 = true }
                _ = try? isFree.wait("the evaluator to be let go") { $0 }
            }
            try isHeld.wait("the evaluator") { $0 }
        }

        deinit { letGo() }

        func letGo() { isFree.update { $0 = true } }
    }

    private let test: TestStore
    private let feed: Feed
    private let other: Feed
    private var upkeep: Upkeep { get throws { try feed.connection.core.startUpkeep() } }

    init() throws {
        // Without polling, upkeep takes no reader by itself.
        test = try TestStore([Note.self, Human.self, Dog.self], upkeepPollNs: nil)
        try test.store.write { connection in
            try connection.add(Note(id: 0))
            let human = Human(1, "a")
            try connection.add(human)
            human.tags.append("x")
        }
        (feed, other) = (try Feed(test.store), try Feed(test.store))
    }

    /// Observes notes and begins a refresh like `refresh()`. Upkeep has processed the request when this returns.
    private func beginRefresh() throws -> CaughtUp {
        feed.keep(try feed.connection.objects(Note.self).observe { [feed] in feed.note($0.text) })
        let reply = CaughtUp()
        try upkeep.send(.catchUp(try feed.connection.live().mailbox, feed.connection.version, reply))
        // Upkeep processes messages in order, and this connection waits for no evaluation.
        try other.connection.refresh()
        return reply
    }

    @Test("it is not over before the first evaluation is, and does not wait for those of other connections")
    func waits() throws {
        let evaluator = try HeldEvaluator(other)
        let reply = try beginRefresh()
        #expect(!reply.isDone.withLock { $0 })
        evaluator.letGo()
        reply.wait(for: nil)
        feed.scheduler.turnNow()
        #expect(feed.takeLog() == ["initial 1"])
    }

    @Test("it ends when the observer is dropped before the first evaluation")
    func dropped() throws {
        let evaluator = try HeldEvaluator(other)
        let reply = try beginRefresh()
        feed.lastToken?.invalidate()
        reply.wait(for: nil)
        evaluator.letGo()
        feed.scheduler.turnNow()
        #expect(feed.takeLog() == [])
    }

    @Test("it ends when the store is closed before the first evaluation")
    func closed() throws {
        let evaluator = try HeldEvaluator(other)
        let reply = try beginRefresh()
        let closing = TracedThread("closing") { [store = test.store] in store.close() }
        reply.wait(for: nil)
        evaluator.letGo()
        closing.join()
        #expect(throws: StoreError.closed) { try feed.connection.refresh() }
    }

    @Test("it ends with the error of a first evaluation that fails")
    func failed() throws {
        let storage = test.store.core.storage
        let evaluator = try HeldEvaluator(other)
        let reply = try beginRefresh()
        var readers: [SnapshotReader] = []
        while let reader = try? storage.takeReader() { readers.append(reader) }
        evaluator.letGo()
        reply.wait(for: nil)
        for reader in readers { storage.recycle(reader) }
        feed.scheduler.turnNow()
        #expect(feed.takeLog() == ["error \(StoreError.tooManySnapshots(limit: 1_024))"])
    }

    @Test("every first delivery has come when a refresh returns", arguments: [true, false])
    func everyKind(_ autorefresh: Bool) throws {
        for round in 0..<20 {
            let feed = try Feed(test.store)
            let connection = feed.connection
            connection.autorefresh = autorefresh
            let human = try #require(try connection.objects(Human.self).first)
            feed.keep(
                try connection.objects(Note.self).sorted(by: \.id).observe { [unowned feed] in
                    if case .initial = $0 { feed.note("results") }
                })
            feed.keep(
                try connection.objects(Note.self).sectioned(by: \.score).observe { [unowned feed] in
                    if case .initial = $0 { feed.note("sections") }
                })
            feed.keep(
                try human.tags.observe { [unowned feed] in if case .initial = $0 { feed.note("values") } })
            feed.keep(
                try human.friends.observe { [unowned feed] in if case .initial = $0 { feed.note("links") } })
            feed.keep(
                try human.observe { [unowned feed] in if case .change = $0 { feed.note("object") } })
            if round % 2 == 0 {
                try test.store.write { try $0.objects(Human.self).first?.age += 1 }
                #expect(try connection.refresh())
                #expect(feed.takeLog().sorted() == ["links", "object", "results", "sections", "values"])
            } else {
                #expect(try !connection.refresh())
                #expect(feed.takeLog().sorted() == ["links", "results", "sections", "values"])
            }
        }
    }
}
