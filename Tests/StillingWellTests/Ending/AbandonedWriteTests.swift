import CStillingWellPlatform
import Foundation
import StillingWellFixtures
import StillingWellSync
import StillingWellTestThreads
import Testing

@testable import StillingWell

/// A connection that threads hand on, one at a time.
private final class Handed: @unchecked Sendable {
    var connection: Connection?

    /// Begins a write in a block of a queue, and tries to begin others inside and after that block.
    func begin(_ store: Store, on queue: DispatchQueue) throws {
        try queue.sync {
            let connection = try store.connect(on: .queue(queue))
            self.connection = connection
            try connection.beginWrite()
            try connection.add(Note(id: 1))
            #expect(refusal { try store.write { _ in } }.contains("write block"))
        }
        #expect(refusal { try store.write(timeout: .zero) { _ in } }.contains("another writer"))
    }

    /// Ends the write in another block.
    func end(on queue: DispatchQueue, commits: Bool) throws {
        try queue.sync { if commits { try connection?.commitWrite() } else { try connection?.cancelWrite() } }
    }
}

/// Runs each job on a thread of its own, one after the other.
private final class HoppingExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "hops")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in
            TracedThread("hop") { job.runSynchronously(on: self.asUnownedSerialExecutor()) }.join()
        }
    }
}

private actor Editor {
    private nonisolated let executor = HoppingExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Awaits inside a write, and continues on another thread.
    func edit(_ store: Store, commits: Bool) async throws {
        let connection = try store.connect(on: .actor(self))
        try connection.beginWrite()
        try connection.add(Note(id: 1))
        let before = cp_thread_number()
        await Task.yield()
        #expect(cp_thread_number() != before)
        #expect(throws: StoreError.writeInsideWrite) { try store.write { _ in } }
        try connection.add(Note(id: 2))
        if commits { try connection.commitWrite() } else { try connection.cancelWrite() }
    }
}

@Suite("Writes that are left open", .serialized, .onThreads)
struct AbandonedWriteTests {
    private let test: TestStore

    init() throws { test = try TestStore() }

    private func count() throws -> Int { try test.store.read { try $0.objects(Note.self).count } }

    /// Checks that the write lock is free, by a write.
    private func expectFree(_ comment: Comment? = nil) {
        #expect(throws: Never.self, comment) {
            try test.store.write(timeout: .zero) { try $0.add(Note(id: Int.random(in: 100...9_999_999))) }
        }
    }

    /// Runs `body` on a thread that ends afterwards.
    private func onThread(_ body: @escaping @Sendable () throws -> Void) {
        TracedThread("short-lived") {
            do { try body() } catch { Issue.record(error) }
        }.join()
    }

    @Test(
        "a write is cancelled when its connection is released, on the thread that began it and on another one",
        arguments: [true, false])
    func released(_ isOwnThread: Bool) throws {
        let handed = Handed()
        let store = test.store
        onThread {
            let connection = try store.connect(on: .scheduler(ManualScheduler()))
            try connection.beginWrite()
            try connection.add(Note(id: 1))
            if !isOwnThread { handed.connection = connection }
        }
        if !isOwnThread {
            #expect(throws: StoreError.writeTimedOut(after: .zero)) { try store.write(timeout: .zero) { _ in } }
            handed.connection = nil
        }
        expectFree()
        #expect(try count() == 1)
    }

    @Test("a write that a read block begins ends with the block")
    func readBlock() throws {
        try test.store.read { connection in
            try connection.beginWrite()
            try connection.add(Note(id: 1))
        }
        expectFree()
        #expect(try count() == 1)
    }

    @Test("a write on a run loop ends with its thread, though the connection is still held")
    func threadEnds() throws {
        let handed = Handed()
        let store = test.store
        onThread {
            let connection = try store.connect(on: .runLoop)
            handed.connection = connection
            try connection.beginWrite()
            try connection.add(Note(id: 1))
        }
        expectFree()
        #expect(try count() == 1)
    }

    @Test("a write may be ended in another block of its queue, which another thread runs", arguments: [true, false])
    func queue(_ commits: Bool) throws {
        let queue = DispatchQueue(label: "edits")
        let handed = Handed()
        let store = test.store
        onThread { try handed.begin(store, on: queue) }
        onThread { try handed.end(on: queue, commits: commits) }
        expectFree()
        #expect(try count() == (commits ? 2 : 1))
        queue.sync { handed.connection = nil }
    }

    @Test("a write may be ended after an await in its actor, on another thread", arguments: [true, false])
    func actor(_ commits: Bool) async throws {
        try await Editor().edit(test.store, commits: commits)
        expectFree()
        #expect(try count() == (commits ? 3 : 1))
    }

    @Test("beginWrite and write refuse to begin inside of each other")
    func inside() throws {
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        try connection.beginWrite()
        #expect(throws: StoreError.writeInsideWrite) { try test.store.write { _ in } }
        try connection.commitWrite()
        try test.store.write { _ in
            #expect(throws: StoreError.writeInsideWrite) { try connection.beginWrite() }
        }
        expectFree()
    }

    // MARK: Destructors of threads

    /// Runs a block in its deinitializer.
    private final class AtEnd {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
        deinit { body() }
    }

    /// A thread-specific key of the program, with a destructor.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { Unmanaged<AtEnd>.fromOpaque($0!).release() }
        return key
    }()

    private enum Storing: CaseIterable { case key, dictionary }
    private enum Deed: CaseIterable { case commits, cancels, releases, writes, beginsAnother }

    @Test(
        "destructors of a thread may end its write, release it or begin another, before or after it is cancelled",
        arguments: Storing.allCases, Deed.allCases)
    private func destructors(_ storing: Storing, _ deed: Deed) throws {
        let store = test.store
        let handed = Handed()
        let ran = Watched(0)
        _ = Self.key
        Thread.detachNewThread {
            do {
                let connection = try store.connect(on: .runLoop)
                handed.connection = connection
                try connection.beginWrite()
                try connection.add(Note(id: 1))
            } catch { Issue.record(error) }
            let atEnd = AtEnd {
                switch deed {
                // The write may have been cancelled already.
                case .commits: try? handed.connection?.commitWrite()
                case .cancels: try? handed.connection?.cancelWrite()
                case .releases: handed.connection = nil
                case .writes: try? store.write(timeout: .zero) { try $0.add(Note(id: 2)) }
                case .beginsAnother:
                    handed.connection = try? store.connect(on: .runLoop)
                    try? handed.connection?.beginWrite(timeout: .zero)
                }
                ran.update { $0 += 1 }
            }
            switch storing {
            case .key: pthread_setspecific(Self.key, Unmanaged.passRetained(atEnd).toOpaque())
            case .dictionary: Thread.current.threadDictionary["at end"] = atEnd
            }
        }
        try ran.wait("the destructor") { $0 == 1 }
        // The thread's other destructors run before or after this one.
        while (try? store.write(timeout: .zero) { try $0.add(Note(id: 3)) }) == nil { sched_yield() }
        #expect(try count() <= 3)
        handed.connection = nil
        expectFree()
    }

    @Test("the log names each abandoned write and the remedy, also for a thread that exits inside a write block")
    func logged() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = try FixtureProcess(path: path, .relaxed, ["abandon"])
        try process.waitForEnd()
        let lines = process.output.value.lines
        let outcomes = lines.filter { $0.hasSuffix(" 0 batches") }
        #expect(
            outcomes
                == ["released", "thread ended", "exited in a block", "read block"].map { "\($0): free, 0 batches" },
            "\(lines)")
        let logged = lines.filter { $0.contains("a write of the store at \(path) was cancelled") }
        #expect(logged.count == 4, "\(lines)")
        for reason in [
            "connection was released", "thread of its connection ended", "inside the write block", "store.read or",
        ] {
            #expect(logged.count { $0.contains(reason) } == 1, "\(reason): \(logged)")
        }
    }

    // MARK: A store that is lost

    @Test("observers of a store that became unreadable get one error, and refresh does not wait")
    func lost() throws {
        let test = try TestStore(upkeepPollNs: nil)
        try test.store.write { try $0.add(Note(id: 1)) }
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self)
        try feed.observe("notes", notes)
        try feed.observe("note", try #require(notes.first))
        // Abandons a transaction of the engine: its thread ends without unlocking.
        let storage = test.store.core.storage
        onThread {
            _ = try storage.writeLock.lock()
            _ = Unmanaged.passRetained(try WriteTransaction(storage, buffer: storage.writeBuffer))
        }
        #expect(throws: StoreError.self) { try test.store.write { try $0.add(Note(id: 2)) } }
        try feed.scheduler.turn { feed.log.count == 2 }
        #expect(feed.log.allSatisfy { $0.contains("close the store and open it again") }, "\(feed.log)")
        #expect(throws: StoreError.self) { try feed.connection.refresh() }
        // A new observer receives the error too.
        var again: StoreError?
        let token = try notes.observe { if case .error(let error) = $0 { again = error } }
        try feed.scheduler.turn { again != nil }
        token.invalidate()
        #expect(feed.log.count == 2)
    }
}
