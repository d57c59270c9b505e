// Rule 8 when upkeep lags. Suppressed notifications through links need the store's versions around each commit. These
// are kept for a limited number of commits. Beyond that, such writes block, and still no notification is sent.
import StillingWellSync
import Testing

@testable import StillingWell

@Suite("Rule 8: suppression holds however far upkeep is behind")
struct Rule08BacklogTests {
    private let test: TestStore
    private let feed: Feed
    private let gate: HeldUpkeep
    private let silent: NotificationToken

    init() throws {
        test = try TestStore([Human.self, Dog.self], durability: .memory)
        try test.store.write { try $0.add(Dog(0, owner: Human(1))) }
        feed = try Feed(test.store)
        gate = try HeldUpkeep(test.store)
        silent = try feed.observe("silent", feed.connection.objects(Dog.self))
    }

    private func rename(_ name: String) throws {
        try test.store.write(withoutNotifying: [silent]) {
            try #require(try $0.object(Human.self, forPrimaryKey: 1)).name = name
        }
    }

    /// Makes commits with suppressed notifications, and counts them.
    private final class Writer: Sendable {
        let begun = Watched(0)
        let returned = Watched(0)
        let isOver = Watched(false)

        func run(_ test: TestStore, _ silent: NotificationToken, commits: Int) {
            for number in 0..<commits {
                do {
                    // Every third commit follows one without suppression.
                    if number % 3 == 0 { try test.store.write { try $0.add(Human(100 + number)) } }
                    try test.store.write(withoutNotifying: [silent]) {
                        begun.update { $0 += 1 }
                        try #require(try $0.object(Human.self, forPrimaryKey: 1)).name = "\(number)"
                    }
                    returned.update { $0 += 1 }
                } catch {
                    Issue.record(error)
                }
            }
            isOver.update { $0 = true }
        }
    }

    /// Starts a thread that makes these commits. Returns once upkeep, which is held, has no room for more.
    private func fill(commits: Int) throws -> Writer {
        try gate.close()
        let writer = Writer()
        let thread = TracedThread("test-writer") { [test, silent] in writer.run(test, silent, commits: commits) }
        thread.detach()
        try writer.begun.wait("the commit that finds no room") { $0 > UpkeepInbox.maxHolding }
        // Gets the write lock only after that commit.
        try test.store.write { _ in }
        return writer
    }

    @Test("a suppressing write that waits for room returns once there is some; every such write is suppressed")
    func backlog() throws {
        let writer = try fill(commits: 2 * UpkeepInbox.maxHolding + 10)
        #expect(writer.returned.value == UpkeepInbox.maxHolding)
        // The blocked writer does not hold the write lock.
        try test.store.write { try $0.add(Human(2)) }
        try gate.open()
        try writer.isOver.wait("the writer") { $0 }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
        try test.store.write { try #require(try $0.object(Human.self, forPrimaryKey: 1)).name = "loud" }
        try feed.catchUp()
        #expect(feed.takeLog() == ["silent ~0>0"])
    }

    @Test("a write that waits for room continues when the store is closed")
    func closing() throws {
        let writer = try fill(commits: UpkeepInbox.maxHolding + 1)
        let letGo = gate.letGo
        let thread = TracedThread("test-closing") {
            _ = try? writer.isOver.wait("the writer") { $0 }
            letGo()
        }
        test.store.close()
        thread.join()
        #expect(writer.isOver.value)
    }

    @Test("without a free snapshot the commit throws and changes nothing")
    func noSnapshot() throws {
        let storage = test.store.core.storage
        var readers: [SnapshotReader] = []
        while let reader = try? storage.takeReader() { readers.append(reader) }
        // One reader is left for the snapshot before the commit, and none for the one after it.
        storage.recycle(readers.removeLast())
        #expect(throws: StoreError.tooManySnapshots(limit: Int(LMDB.maxReaders))) { try rename("x") }
        for reader in readers { storage.recycle(reader) }
        #expect(try test.store.read { try $0.object(Human.self, forPrimaryKey: 1)?.name } != "x")
        try rename("y")
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }

    @Test(
        "a suppressing commit hides no change of a list in a step whose log lists no changes", arguments: [false, true])
    func unlistedLists(isSilentFirst: Bool) throws {
        let humans = try feed.observe("humans", feed.connection.objects(Human.self))
        try feed.catchUp()
        _ = feed.takeLog()
        try gate.close()
        try test.store.write { try $0.add(Dog(1)) }
        if isSilentFirst { try test.store.write(withoutNotifying: [humans]) { try human($0).name = "silent" } }
        try test.store.write { try human($0).tags.append("new") }
        if !isSilentFirst { try test.store.write(withoutNotifying: [humans]) { try human($0).name = "silent" } }
        try test.store.write { connection in
            for id in 0..<65_536 { try connection.add(Dog(10 + id)) }
        }
        try gate.open()
        try feed.catchUp()
        #expect(feed.takeLog().filter { $0.hasPrefix("humans") } == ["humans ~0>0"])
    }

    private func human(_ connection: Connection) throws -> Human {
        try #require(try connection.object(Human.self, forPrimaryKey: 1))
    }
}
