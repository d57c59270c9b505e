// Tests of writes that do not block the caller's thread.
import CStillingWellPlatform
import Foundation
import StillingWellSync
import Testing

@testable import StillingWell

@Suite("Asynchronous writes", .timeLimit(.minutes(15)))
struct AsyncWriteTests {
    @Test("return what the block returns, in order, once committed", arguments: Durability.allCases)
    func inOrder(_ durability: Durability) async throws {
        let test = try TestStore(durability: durability)
        for id in 0..<5 {
            let count = try await test.store.write { connection in
                try connection.add(Note(id: id))
                return try connection.objects(Note.self).count
            }
            #expect(count == id + 1)
        }
        #expect(try await test.store.read { try $0.objects(Note.self).map(\.id) } == Array(0..<5))
    }

    private struct Refused: Error {}

    /// Queues writes while another write holds the lock, so that they are grouped if commits are synchronised.
    private func gathered(
        _ store: Store, _ count: Int, _ body: @escaping @Sendable (Int, Connection) throws -> Void
    ) throws -> [Int: Bool] {
        let results = Watched<[Int: Bool]>([:])
        try store.write { connection in
            try connection.add(Note(id: 1_000_000))
            for index in 0..<count {
                store.queueWrite({ try body(index, $0) }) { result in
                    results.update { $0[index] = (try? result.get()) != nil }
                }
            }
        }
        return try results.wait("all writes") { $0.count == count }
    }

    @Test("waiting writes share one commit if commits are synchronised")
    func grouped() throws {
        let test = try TestStore(durability: .full)
        let before = try test.store.read { $0.version }
        let results = try gathered(test.store, 100) { index, connection in try connection.add(Note(id: index)) }
        #expect(results.values.allSatisfy { $0 })
        // At most three commits: the one that held the lock, the writes taken before all were queued, and the others.
        #expect(try test.store.read { $0.version } - before <= 3)
        #expect(try test.store.read { try $0.objects(Note.self).count } == 101)
    }

    /// An object that a write has added, which the test does not keep alive.
    private final class Added: @unchecked Sendable {
        weak var object: StoredObject?
    }

    @Test("a group releases the objects that it has added with their links")
    func released() throws {
        let test = try TestStore([Note.self, Human.self, Dog.self], durability: .full)
        let added = (0..<20).map { _ in Added() }
        let results = try gathered(test.store, 20) { index, connection in
            let human = Human(index)
            human.boss = Human(100 + index)
            try connection.add(human)
            added[index].object = human
            if index % 4 == 3 { throw Refused() }
        }
        #expect(results.values.filter { $0 }.count == 15)
        #expect(added.allSatisfy { $0.object == nil })
    }

    @Test("succeed or fail independently, also within a group", arguments: Durability.allCases)
    func alone(_ durability: Durability) throws {
        let test = try TestStore(durability: durability)
        let results = try gathered(test.store, 40) { index, connection in
            try connection.add(Note(id: index, score: index))
            // A write sees an earlier one, unless that one failed.
            if index % 3 == 1 { throw Refused() }
            if index % 3 == 2 {
                #expect(try connection.object(Note.self, forPrimaryKey: index - 2) != nil)
                #expect(try connection.object(Note.self, forPrimaryKey: index - 1) == nil)
            }
        }
        #expect(results == Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, $0 % 3 != 1) }))
        let ids = try test.store.read { try $0.objects(Note.self).map(\.id).sorted() }
        #expect(ids == (0..<40).filter { $0 % 3 != 1 } + [1_000_000])
    }

    @Test("a failure that a setter could not throw fails its own part of a group only")
    func setterFailure() throws {
        let test = try TestStore(durability: .full)
        let results = try gathered(test.store, 6) { index, connection in
            let note = Note(id: index)
            try connection.add(note)
            if index == 3 {
                try connection.delete(note)
                note.score = 1
            }
        }
        #expect(results.filter { !$0.value }.keys.sorted() == [3])
        #expect(try test.store.read { try $0.objects(Note.self).count } == 6)
    }

    @Test("objects added in a cancelled part are plain ones again")
    func cancelledPart() throws {
        let test = try TestStore(durability: .full)
        nonisolated(unsafe) var kept: [Int: Note] = [:]
        _ = try gathered(test.store, 2) { index, connection in
            let note = Note(id: index)
            try connection.add(note)
            kept[index] = note
            if index == 0 { throw Refused() }
        }
        #expect(kept[0]?.objectID == nil)
        #expect(kept[1]?.objectID != nil)
    }

    /// Result of a task that writes.
    private enum Outcome: Equatable { case written, cancelled, failed }

    private func task(
        _ store: Store, _ body: @escaping @Sendable (Connection) throws -> Void
    ) -> Task<Outcome, Never> {
        Task {
            do {
                try await store.write { try body($0) }
                return .written
            } catch {
                return error is CancellationError ? .cancelled : .failed
            }
        }
    }

    /// Starts a thread that holds the write lock until `mayEnd` is true, and returns once it has the lock.
    private func holdLock(of store: Store) async throws -> (holder: TracedThread, mayEnd: Watched<Bool>) {
        let (isHeld, mayEnd) = (Watched(false), Watched(false))
        let holder = TracedThread("holder") {
            try? store.write { _ in
                isHeld.update { $0 = true }
                try mayEnd.wait("the end") { $0 }
            }
        }
        try await isHeld.reached("the lock") { $0 }
        return (holder, mayEnd)
    }

    @Test("a cancelled task stops waiting for the lock and writes nothing", arguments: Durability.allCases)
    func cancelled(_ durability: Durability) async throws {
        let test = try TestStore(durability: durability)
        let (holder, mayEnd) = try await holdLock(of: test.store)
        let tasks = (0..<4).map { index in task(test.store) { try $0.add(Note(id: index)) } }
        for index in [0, 2] {
            tasks[index].cancel()
            // The other write still holds the lock.
            #expect(await tasks[index].value == .cancelled)
        }
        mayEnd.update { $0 = true }
        for index in [1, 3] { #expect(await tasks[index].value == .written) }
        holder.join()
        #expect(try await test.store.read { try $0.objects(Note.self).map(\.id).sorted() } == [1, 3])
    }

    @Test("a write that has begun ends normally when its task is cancelled", arguments: Durability.allCases)
    func cancelledLate(_ durability: Durability) async throws {
        let test = try TestStore(durability: durability)
        let (hasBegun, mayEnd) = (Watched(false), Watched(false))
        let task = task(test.store) { connection in
            try connection.add(Note(id: 1))
            hasBegun.update { $0 = true }
            try mayEnd.wait("the end") { $0 }
        }
        try await hasBegun.reached("the write") { $0 }
        task.cancel()
        mayEnd.update { $0 = true }
        #expect(await task.value == .written)
        #expect(try await test.store.read { try $0.objects(Note.self).count } == 1)
    }

    @Test("a task that is already cancelled writes nothing")
    func cancelledBefore() async throws {
        let test = try TestStore()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await test.store.write { try $0.add(Note(id: 1)) }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        // Writes are made in the order of the calls.
        #expect(try await test.store.write { try $0.objects(Note.self).count } == 0)
    }

    @Test("reach observers, and skip the tokens they name")
    func skipping() throws {
        let test = try TestStore(durability: .full)
        let feed = try Feed(test.store)
        let silent = try feed.observe("silent", try feed.connection.objects(Note.self))
        try feed.observe("loud", try feed.connection.objects(Note.self))
        let isDone = Watched(false)
        test.store.queueWrite(withoutNotifying: [silent], { try $0.add(Note(id: 1)) }) { _ in
            isDone.update { $0 = true }
        }
        try isDone.wait("the write") { $0 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["loud +0"])
    }

    @Test("a block that tries to end the transaction that it shares does not prevent the other writes")
    func ending() async throws {
        let test = try TestStore(durability: .full)
        let results = try gathered(test.store, 3) { index, connection in
            try connection.add(Note(id: index))
            if index == 1 { try connection.commitWrite() }
        }
        #expect(results[0] == true && results[2] == true)
    }

    @Test("fail with an error once the store has been closed")
    func closed() async throws {
        let test = try TestStore()
        test.store.close()
        await #expect(throws: StoreError.closed) { try await test.store.write { try $0.add(Note(id: 1)) } }
    }

    @Test("a write with a timeout gives up behind the lock and behind other writes", arguments: Durability.allCases)
    func timedOut(_ durability: Durability) async throws {
        let test = try TestStore(durability: durability)
        let (holder, mayEnd) = try await holdLock(of: test.store)
        for limit in [Duration.zero, .seconds(-1), .milliseconds(5)] {
            await #expect(throws: StoreError.writeTimedOut(after: max(limit, .zero))) {
                try await test.store.write(timeout: limit) { try $0.add(Note(id: 1)) }
            }
        }
        let waiting = task(test.store) { try $0.add(Note(id: 2)) }
        // Write 2 makes the writer thread wait for the lock.
        let page = test.store.core.storage.page
        while cp_load32(page.waiting) == 0 { await Task.yield() }
        await #expect(throws: StoreError.writeTimedOut(after: .milliseconds(5))) {
            try await test.store.write(timeout: .milliseconds(5)) { try $0.add(Note(id: 3)) }
        }
        mayEnd.update { $0 = true }
        #expect(await waiting.value == .written)
        try await test.store.write(timeout: .seconds(Int64.max)) { try $0.add(Note(id: 4)) }
        holder.join()
        #expect(try await test.store.read { try $0.objects(Note.self).map(\.id).sorted() } == [2, 4])
    }

    @Test("return non-Sendable values that the block has not shared; so do reads")
    func sending() async throws {
        let test = try TestStore()
        let added = try await test.store.write { connection in
            let note = Note(id: 1, score: 7)
            try connection.add(note)
            return try note.detached()
        }
        let read = try await test.store.read { try $0.object(Note.self, forPrimaryKey: 1)?.detached() }
        #expect(added.score == 7 && read?.score == 7 && read?.objectID == nil)
    }

    @Test("reading throws what its block throws, and reads nothing in a cancelled task")
    func reading() async throws {
        let test = try TestStore()
        await #expect(throws: Refused.self) { try await test.store.read { _ in throw Refused() } }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await test.store.read { _ in Issue.record("a cancelled task has read") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        test.store.close()
        await #expect(throws: StoreError.closed) { try await test.store.read { $0.version } }
    }

    /// Number of this process's mappings with about the size of a default thread stack.
    private func stackCount() throws -> Int {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        var stackBytes = 0
        pthread_attr_getstacksize(&attributes, &stackBytes)
        // Reads line by line: the kernel returns this file in parts, and Foundation stops after the first.
        let file = try #require(fopen("/proc/self/maps", "r"))
        defer { fclose(file) }
        var lines: [String] = []
        var line = [CChar](repeating: 0, count: 8_192)
        while fgets(&line, Int32(line.count), file) != nil { lines.append(String(cString: line)) }
        return lines.count { line in
            let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
            // The guard page is not part of the mapping's accessible size.
            return ends.count == 2 && (UInt64(stackBytes) - 65_536...UInt64(stackBytes)).contains(ends[1] - ends[0])
        }
    }

    @Test("leave no thread behind when their store is gone")
    func freed() async throws {
        let rounds = 200
        let before = try stackCount()
        for round in 0..<rounds {
            let test = try TestStore(durability: .memory)
            let isDone = Watched(false)
            test.store.queueWrite({ try $0.add(Note(id: round)) }) { _ in isDone.update { $0 = true } }
            try isDone.wait("the write") { $0 }
        }
        // Threads of other tests start and end meanwhile, and ended threads take a while to go. Threads that are left
        // behind stay.
        let deadline = ContinuousClock.now + .seconds(300)
        var left = try stackCount() - before
        while left >= rounds / 2, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(100))
            left = try stackCount() - before
        }
        #expect(left < rounds / 2, "\(before) stacks before \(rounds) stores, \(left) more after")
    }
}
