// Tests of several processes on one store. The other processes are stillingwell-fixture.
import CStillingWellPlatform
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellSync
import StillingWellTestThreads
import Testing

@testable import StillingWell
@testable import StillingWellTree

@Suite("Many processes", .serialized, .onThreads)
struct ProcessTests {
    private func makeStore(_ durability: Durability = .relaxed) throws -> TestStore {
        try TestStore(Batches.models, durability: durability)
    }

    // MARK: Living together

    @Test("processes that increment one counter lose nothing", arguments: [Durability.relaxed, .memory])
    func increments(_ durability: Durability) throws {
        let test = try makeStore(durability)
        let each = 400
        let fixtures = try (0..<2).map { _ in try FixtureProcess(test, "increment", "shared", "\(each)", "0") }
        for fixture in fixtures { try fixture.go() }
        var versions: [UInt64] = []
        for _ in 0..<each {
            try test.store.write { connection in
                try Batches.increment("shared", connection)
                versions.append(connection.version + 1)
            }
        }
        for fixture in fixtures {
            let lines = try fixture.waitForLines(each)
            let acknowledged = lines.compactMap { UInt64($0) }
            #expect(acknowledged == acknowledged.sorted())
            versions += acknowledged
        }
        #expect(try test.store.read { try Batches.value("shared", $0) } == 3 * each)
        #expect(versions.sorted() == (1...UInt64(3 * each)).map { $0 })
    }

    @Test("observers are told of other processes' commits, with the right change set", arguments: Durability.allCases)
    func observingEachOther(_ durability: Durability) throws {
        let test = try makeStore(durability)
        try test.store.write { connection in for _ in 0..<5 { try Batches.insert(connection) } }
        let observer = try BatchObserver(test.store)
        defer { observer.stop() }
        let other = try FixtureProcess(test, "observe")
        try other.go()
        #expect(try other.waitForLines(1) == ["initial 10"])

        // Commits of one process reach this process and a third one.
        let inserting = try FixtureProcess(test, "insert", "1")
        try inserting.go()
        try observer.seen.wait("the insertion") { $0.changes.count == 1 }
        #expect(observer.seen.value.changes[0] == ChangeSet(insertions: [10, 11]))
        #expect(try other.waitForLines(2)[1] == "update 12 - +10,11 ~")
        let deleting = try FixtureProcess(test, "delete", "1")
        try deleting.go()
        try observer.seen.wait("the deletion") { $0.changes.count == 2 }
        let deletion = observer.seen.value.changes[1]
        #expect(deletion.deletions == [2, 3] && deletion.insertions.isEmpty && deletion.modifications.isEmpty)
        #expect(try other.waitForLines(3)[2] == "update 10 -2,3 + ~")

        // Commits of this process reach the others.
        try test.store.write { connection in
            try Batches.delete(0, connection)
            try Batches.insert(connection)
            try #require(try connection.object(Half.self, forPrimaryKey: 5)).amount += 0
        }
        #expect(try other.waitForLines(4)[3] == "update 10 -0,1 +8,9 ~3")
        try observer.seen.wait("the own commit") { $0.changes.count == 3 }
        #expect(observer.seen.value.violations.isEmpty)
    }

    @Test("writers of several processes and threads all get their turns")
    func fairness() throws {
        let test = try makeStore()
        let names = ["process 0", "process 1", "thread 0", "thread 1"]
        func counts() throws -> [Int] {
            try test.store.read { connection in try names.map { try Batches.value($0, connection) } }
        }
        // The lock is nearly always held, so its holder would take it again before a waiter is awake.
        let heldUs = 300
        let fixtures = try names.prefix(2).map { try FixtureProcess(test, "increment", $0, "1000000", "\(heldUs)") }
        for fixture in fixtures { try fixture.go() }
        for fixture in fixtures { try fixture.waitForLines(1) }
        let before = try counts()
        // Sum of all counters at which the threads of this process end.
        let enough = before.reduce(0, +) + 2_000
        let isOver = Watched(false)
        let threads = names.suffix(2).map { name in
            TracedThread(name) {
                do {
                    while !isOver.value {
                        let total = try test.store.write { connection in
                            try Batches.increment(name, connection)
                            Batches.spend(us: heldUs)
                            return try names.reduce(0) { try $0 + Batches.value($1, connection) }
                        }
                        if total >= enough { isOver.update { $0 = true } }
                    }
                } catch {
                    Issue.record(error)
                    isOver.update { $0 = true }
                }
            }
        }
        for thread in threads { thread.join() }
        let shares = zip(try counts(), before).map { $0 - $1 }
        for fixture in fixtures { try fixture.killNow() }
        let total = shares.reduce(0, +)
        for (name, share) in zip(names, shares) {
            #expect(share * 20 >= total, "\(name) made \(share) of \(total) commits; all: \(shares)")
        }
    }

    @Test("a stopped process keeps the log that it needs, and catches up")
    func stopped() throws {
        let test = try makeStore()
        try test.store.write { try Batches.insert($0) }
        let other = try FixtureProcess(test, "observe")
        try other.go()
        #expect(try other.waitForLines(1) == ["initial 2"])
        try other.pause()
        let before = try test.store.read { $0.version }
        for _ in 0..<200 { try test.store.write { try Batches.insert($0) } }
        guard let entries = try test.store.core.storage.openSnapshot().changes(after: before) else {
            Issue.record("the log was pruned under a process that had not read it")
            return
        }
        #expect(entries.count == 3 * 200)
        other.resume()
        let lines = try other.output.wait("the end") { $0.lines.last?.hasPrefix("update 402 ") == true || $0.isOver }
        #expect(!lines.isOver)
        // Every row was inserted once, for any number of deliveries.
        let insertions = lines.lines.compactMap {
            $0.split(separator: "+").dropFirst().first?.split(separator: " ").first
        }
        #expect(insertions.flatMap { $0.split(separator: ",").compactMap { Int($0) } } == Array(2..<402))
        // Once the process is gone, the log is pruned.
        try other.killNow()
        other.waitUntilReaped()
        for _ in 0..<200 { try test.store.write { try Batches.increment("other", $0) } }
        guard try test.store.core.storage.openSnapshot().changes(after: before) == nil else {
            Issue.record("the log is kept for a process that is gone")
            return
        }
    }

    // MARK: Killed

    @Test("a process killed in its write block takes only that block with it", arguments: Durability.allCases)
    func killedInWrite(_ durability: Durability) throws {
        let test = try makeStore(durability)
        let store = test.store
        try store.write { try Batches.insert($0) }
        let observer = try BatchObserver(store)
        defer { observer.stop() }
        let holder = try FixtureProcess(test, "hold")
        try holder.go()
        try holder.waitForLines(1)
        let limit = Duration.milliseconds(20)
        #expect(throws: StoreError.writeTimedOut(after: limit)) { try store.write(timeout: limit) { _ in } }
        #expect(try store.read { try Batches.violation(from: 0, $0) } == nil, "readers do not wait for it")

        // One writer waits already when the process is killed, and another one comes later.
        let found = Watched<[Int]>([])
        let waiting = TracedThread("waiting") {
            do {
                let count = try store.write { try Batches.insert($0) }
                found.update { $0.append(count) }
            } catch {
                Issue.record(error)
            }
        }
        while cp_load32(store.core.storage.page.waiting) == 0 { sched_yield() }
        try holder.killNow()
        try found.wait("the waiting writer") { $0 == [2] }
        waiting.join()
        #expect(try store.write { try Batches.insert($0) } == 3)
        #expect(try store.read { try Batches.violation(from: 0, $0) } == nil)
        try observer.seen.wait("both commits") { $0.keys == Array(0..<6) }
        #expect(observer.seen.value.violations.isEmpty)
    }

    @Test("the count that killed waiting writers leave keeps no writer from the lock, and is corrected")
    func killedWhileWaiting() throws {
        let test = try makeStore(.memory)
        let page = test.store.core.storage.page
        try test.store.write { try Batches.insert($0) }
        // The count that three killed waiters leave.
        cp_store32(page.waiting, 3)
        let found = Watched<[Int]>([])
        let writer = TracedThread("another writer") {
            do {
                // The writer that does not wait finds the lock free. The one that waits corrects the count.
                for timeout: Duration? in [.zero, nil] {
                    let count = try test.store.write(timeout: timeout) { try Batches.insert($0) }
                    found.update { $0.append(count) }
                    cp_store64(page.turnOwner, 0)
                }
            } catch {
                Issue.record(error)
            }
        }
        try found.wait("the other writer") { $0 == [2, 3] }
        writer.join()
        #expect(cp_load32(page.waiting) == 0)
    }

    @Test("if a process is killed while it opens a store, a waiting process sets the store up")
    func killedOpening() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        // The page of a crashed machine, and the locks of a process that is opening the store.
        try Data(repeating: 0x2a, count: 4_096).write(to: URL(fileURLWithPath: path + "/shared"))
        let files = [open(path, O_RDONLY | O_CLOEXEC), open(path + "/shared", O_RDWR | O_CLOEXEC)]
        for file in files { try #require(flock(file, LOCK_EX) == 0) }
        let found = Watched<[Int]>([])
        let opening = TracedThread("opening") {
            do {
                let store = try Store(.init(path: path, models: Batches.models, durability: .relaxed))
                let count = try store.write { try Batches.insert($0) }
                found.update { $0.append(count) }
            } catch {
                Issue.record(error)
                found.update { $0.append(-1) }
            }
        }
        // A thread that waits for the folder's lock has opened the folder a second time.
        func isWaiting() throws -> Bool {
            let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let opened = numbers.filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            }
            return opened.count == 2
        }
        while try !isWaiting() { sched_yield() }
        // Unlocked first: a process that another test starts also holds the files until its exec.
        for file in files {
            flock(file, LOCK_UN)
            close(file)
        }
        try found.wait("the store to be opened") { $0 == [1] }
        opening.join()
    }

    @Test("processes that start at once agree on one store, new or old", arguments: [Durability.relaxed, .memory])
    func opening(_ durability: Durability) throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        for round in 0..<8 {
            let fixtures = try (0..<3).map { _ in
                try FixtureProcess(path: path, durability, ["increment", "shared", "1", "0"])
            }
            for fixture in fixtures { try fixture.waitUntilReady() }
            for fixture in fixtures { try fixture.go() }
            for fixture in fixtures { try fixture.waitForEnd() }
            // An in-memory store ends with its last process, so the next round finds a new one.
            let first = durability == .memory ? 1 : 3 * round + 1
            #expect(fixtures.flatMap { $0.lines.compactMap { Int($0) } }.sorted() == Array(first..<first + 3))
        }
    }

    @Test("a commit that was never signalled to other processes reaches observers without a later commit")
    func silentCommit() throws {
        let test = try makeStore()
        let observer = try BatchObserver(test.store)
        defer { observer.stop() }
        // The steps of a writer that is killed right after its commit.
        let storage = test.store.core.storage
        _ = try storage.writeLock.lock()
        do {
            defer { storage.writeLock.unlock() }
            let transaction = try WriteTransaction(storage, buffer: storage.writeBuffer)
            defer { transaction.cancel() }
            let table = try storage.table(of: Half.self)
            for key in 0..<2 {
                let half = Half()
                half.key = key
                half.amount = Batches.sum / 2
                _ = try transaction.insert(table) { table.layout.encode(half, into: $0) }
            }
            _ = try transaction.commit()
        }
        try observer.seen.wait("the commit") { $0.keys == [0, 1] }
        #expect(observer.seen.value.violations.isEmpty)
    }

    @Test("a reader that was killed does not keep old versions in the file")
    func killedReader() throws {
        let test = try TestStore(Batches.models, flushes: .off)
        try test.store.write { try Batches.insert($0) }
        let other = try FixtureProcess(test, "observe")
        try other.go()
        try other.waitForLines(1)
        try other.killNow()
        let before = test.store.fileBytes
        for _ in 0..<2_000 { try test.store.write { try Batches.increment("many", $0) } }
        let grown = test.store.fileBytes - before
        #expect(grown < 8 << 20, "the file grew by \(grown) bytes")
    }
}
