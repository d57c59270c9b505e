import Foundation
import Testing
import TracedSync

@testable import LiveStore

@Suite("What a callback sees")
struct CallbackConsistencyTests {
    @Test("a write in one callback is not seen by the next of the same delivery, and by everyone after it")
    func writeBetweenCallbacks() throws {
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        let others = notes.where(\.score == 0)
        let unobserved = notes.where(\.score >= 0)
        var initials = 0
        var seen: [[[Int]]] = []
        var found: [Bool] = []
        let tokens = [
            try notes.observe { change in
                guard case .update = change, notes.count == 1 else { return }
                do { try connection.write { try connection.add(Note(id: 2)) } } catch { Issue.record(error) }
                #expect(notes.map(\.id) == [1, 2])
            },
            try notes.observe { change in
                guard case .update = change else { return initials += 1 }
                seen.append([notes, others, unobserved].map { $0.map(\.id) })
                do { found.append(try connection.object(Note.self, forPrimaryKey: 2) != nil) } catch {
                    Issue.record(error)
                }
            },
            try others.observe { if case .initial = $0 { initials += 1 } },
        ]
        try scheduler.turn { initials == 2 }
        try test.store.write { try $0.add(Note(id: 1)) }
        try scheduler.turn { !seen.isEmpty }
        #expect(seen == [[[1], [1], [1]]])
        #expect(found == [false])
        // After the callbacks the write shows, without a delivery.
        #expect([notes, others, unobserved].map { $0.map(\.id) } == [[1, 2], [1, 2], [1, 2]])
        try scheduler.turn { seen.count == 2 }
        #expect(seen[1] == [[1, 2], [1, 2], [1, 2]])
        for token in tokens { token.invalidate() }
    }

    @Test("a write block in a callback starts from the rows its callback saw")
    func indicesInWrite() throws {
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self).sorted(by: \.score)
        var initials = 0
        var inside: [Int] = []
        var after: [Int] = []
        let tokens = [
            try notes.observe { change in
                guard case .update = change, notes.count == 1 else { return initials += 1 }
                do { try connection.write { try connection.add(Note(id: 0, score: -5)) } } catch { Issue.record(error) }
            },
            try notes.observe { change in
                guard case .update = change, notes.count == 1 else { return initials += 1 }
                do {
                    try connection.write {
                        inside = notes.map(\.id)
                        notes[0].score = 7
                    }
                } catch { Issue.record(error) }
                after = notes.map(\.id)
            },
        ]
        try scheduler.turn { initials == 2 }
        try test.store.write { try $0.add(Note(id: 1)) }
        try scheduler.turn { !after.isEmpty }
        #expect(inside == [1])
        #expect(after == [0, 1])
        #expect(try connection.object(Note.self, forPrimaryKey: 1)?.score == 7)
        for token in tokens { token.invalidate() }
    }

    @Test(
        "an initial callback between an own write and its delivery leaves that write to the next one", arguments: 0..<20
    )
    func initialAfterOwnWrite(_ round: Int) throws {
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        var isReady = false
        var count: Int?
        let first = try notes.observe { _ in isReady = true }
        try scheduler.turn { isReady }
        let second = try notes.observe { change in
            switch change {
            case .initial: count = notes.count
            case .update(_, let changes):
                count? += changes.insertions.count - changes.deletions.count
                #expect(count == notes.count)
            case .error(let error): Issue.record(error)
            }
        }
        try connection.write { try connection.add(Note(id: 1)) }
        #expect(notes.count == 1)
        try scheduler.turn { count == 1 }
        try connection.write { try connection.add(Note(id: 2)) }
        try scheduler.turn { count == 2 }
        for token in [first, second] { token.invalidate() }
    }

    @Test("a query that could not be evaluated says so once, and can be observed again")
    func failedEvaluation() throws {
        let test = try TestStore()
        let storage = test.store.core.storage
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        var readers: [SnapshotReader] = []
        while let reader = try? storage.takeReader() { readers.append(reader) }
        var errors: [StoreError] = []
        var initials = 0
        func observe() throws -> NotificationToken {
            try notes.observe { change in
                if case .error(let error) = change { errors.append(error) }
                if case .initial = change { initials += 1 }
            }
        }
        let first = try observe()
        try scheduler.turn { !errors.isEmpty }
        #expect(errors == [.tooManySnapshots(limit: 1_024)])
        for reader in readers { storage.recycle(reader) }
        let second = try observe()
        try scheduler.turn { initials > 0 }
        #expect(initials == 1 && errors.count == 1)
        for token in [first, second] { token.invalidate() }
    }

    @Test("a root that was on its way when the last observer left is not shown for ever")
    func lateRoot() throws {
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        var isReady = false
        let token = try notes.observe { _ in isReady = true }
        try scheduler.turn { isReady }
        let attachment = notes.query.attachment
        token.invalidate()
        // What upkeep sends before it has read that nobody watches any more.
        let snapshot = try test.store.core.storage.openSnapshot()
        let late = RootUpdate(query: notes.query, attachment: attachment, tree: RankedTree())
        connection.mailbox?.put(snapshot, VersionMail(updates: [late]))
        try scheduler.turn()
        try connection.write { try connection.add(Note(id: 1)) }
        try scheduler.turn { connection.version == 1 }
        #expect(notes.map(\.id) == [1])
        // Nor is it taken for the root of a new observer.
        // (Left before it observes: upkeep's own mail is in order, so an older root never comes after a newer one.)
        connection.mailbox?.put(try test.store.core.storage.openSnapshot(), VersionMail(updates: [late]))
        var initial: [Int]?
        let next = try notes.observe { _ in initial = notes.map(\.id) }
        try scheduler.turn { initial != nil }
        #expect(initial == [1])
        next.invalidate()
    }

    @Test("a connection never goes back to a version before the one it was opened at")
    func neverBack() throws {
        let test = try TestStore()
        let old = try test.store.core.storage.openSnapshot()
        try test.store.write { try $0.add(Note(id: 1)) }
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        // What an upkeep sends that has not heard of the newest commit yet.
        connection.mailbox?.put(old, VersionMail())
        try scheduler.turn()
        #expect(connection.version == 1)
    }

    @Test("nothing is delivered once the store has been closed, not even what was waiting")
    func closedWithMail() throws {
        let test = try TestStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        var calls: [String] = []
        let tokens = [
            try notes.observe { _ in
                calls.append("first")
                if notes.count == 1 { test.store.close() }
            },
            try notes.observe { _ in calls.append("second") },
        ]
        try scheduler.turn { calls.count == 2 }
        try test.store.write { try $0.add(Note(id: 1)) }
        try scheduler.turn()
        #expect(calls == ["first", "second", "first"])
        for token in tokens { token.invalidate() }
    }

    /// A weak reference that crosses threads.
    private final class Weak: @unchecked Sendable { weak var connection: Connection? }

    @Test("a connection whose run loop never turns again is let go all the same")
    func runLoopGone() throws {
        let test = try TestStore()
        let weak = Weak()
        let thread = TracedThread("short-lived") {
            do {
                let notes = try test.store.connect(on: .runLoop).objects(Note.self)
                weak.connection = notes.connection
                var isReady = false
                let token = try notes.observe { [notes] _ in isReady = notes.isEmpty }
                while !isReady { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
                token.invalidate()
            } catch { Issue.record(error) }
        }
        thread.join()
        #expect(weak.connection == nil)
    }

    @Test("a write inside a write is an error while another writer insists on being next, too")
    func nestedWhileStarving() throws {
        let test = try TestStore()
        let page = test.store.core.storage.page
        nonisolated(unsafe) var contender: TracedThread?
        try test.store.write { _ in
            contender = TracedThread("contender") {
                do { try test.store.write { try $0.add(Note(id: 1)) } } catch { Issue.record(error) }
            }
            // Until the other writer holds the gate.
            while pthread_mutex_trylock(page.gate) == 0 {
                pthread_mutex_unlock(page.gate)
                sched_yield()
            }
            #expect(throws: StoreError.writeInsideWrite) { try test.store.write(timeout: 1) { _ in } }
        }
        contender?.join()
        #expect(try test.store.read { try $0.objects(Note.self).count } == 1)
    }
}
