// Rule 6. (In Realm, beginning a write on an observing thread first brings its data to the newest version and runs the
// callbacks while it holds the write lock.)
import CStillingWellPlatform
import Foundation
import StillingWellSync
import Testing
import TidegaugeHangs

@testable import StillingWell

@Suite("Rule 6: callbacks never run inside a write, and beginning one waits for the lock only")
final class Rule06NoCallbackInWriteTests: NoteSuite {
    init() throws { try super.init(3, scoreStep: 1) }

    @Test("beginning a write delivers nothing, though there is something to deliver; nor do turns inside of it")
    func begin() throws {
        try feed.observe("notes", notes)
        try feed.observeStore()
        try test.store.write { try $0.add(Note(id: 9, score: -1)) }
        // Upkeep has put it into the mailbox. Only the turn of the scheduler is missing.
        try Feed(test.store).catchUp()
        try feed.connection.beginWrite()
        #expect(feed.log == [] && notes.map(\.id) == [0, 1, 2])
        feed.scheduler.turnNow()
        #expect(feed.log == [] && notes.map(\.id) == [0, 1, 2])
        #expect(try !feed.connection.refresh())
        notes[0].score = 5
        #expect(notes.map(\.id) == [1, 2, 0])
        try feed.connection.commitWrite()
        #expect(feed.log == [] && notes.map(\.id) == [1, 2, 0])
        // The turn that came during the write is requested again.
        try feed.scheduler.turn { notes.count == 4 }
        #expect(feed.takeLog().first == "store didChange")
    }

    @Test("in no callback of results, sections, objects or the store is a write in progress", arguments: [true, false])
    func allKinds(_ byOthers: Bool) throws {
        var inside: [Bool] = []
        let connection = feed.connection
        let see = { inside.append(connection.isInWrite) }
        let note = try #require(try connection.object(Note.self, forPrimaryKey: 1))
        let sections = notes.sectioned(by: \.score)
        var initials = 0
        for token in [
            try notes.observe { if case .initial = $0 { initials += 1 } else { see() } },
            try sections.observe { if case .initial = $0 { initials += 1 } else { see() } },
            try note.observe { _ in see() }, try connection.observe { _, _ in see() },
        ] { feed.keep(token) }
        try feed.scheduler.turn { initials == 2 }
        for score in 100..<110 {
            if byOthers {
                try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 1)).score = score }
                // The mail is there before the write begins.
                let mailbox = try connection.live().mailbox
                try connection.core.startUpkeep().catchUp(mailbox, to: connection.core.storage.openSnapshot().version)
            }
            let before = inside.count
            try connection.write {
                note.score = score
                feed.scheduler.turnNow()
                #expect(inside.count == before)
            }
            #expect(inside.count == before)
            try feed.catchUp()
            #expect(inside.count == before + 4)
        }
        #expect(!inside.contains(true))
    }

    @Test("a callback may wait for another thread's write: it holds nothing that one needs")
    func waitingCallback() throws {
        var seen: [Int] = []
        feed.keep(
            try notes.observe { [test, notes] change in
                guard case .update = change, notes.count == 4 else { return }
                let other = TracedThread("other writer") {
                    do { try test.store.write { try $0.add(Note(id: 10)) } } catch { Issue.record(error) }
                }
                other.join()
                seen.append(notes.count)
            })
        try feed.observe("notes", notes)
        try test.store.write { try $0.add(Note(id: 9)) }
        try feed.scheduler.turn { !seen.isEmpty }
        #expect(seen == [4])
        // A write on the observing thread right after a background write, which deadlocked in Realm.
        try test.store.write { try $0.add(Note(id: 11)) }
        try feed.connection.write { try feed.connection.add(Note(id: 12)) }
        try feed.scheduler.turn { notes.count == 7 }
    }

    @Test("beginning a write does not wait for upkeep, however long that takes")
    func slowUpkeep() throws {
        // Upkeep calls the section function on its thread, where it blocks until the gate opens.
        let gate = Watched((isShut: false, isWaiting: false))
        let here = pthread_self()
        let sections = try feed.connection.objects(Note.self).sectioned(by: \.score) { score in
            if pthread_equal(pthread_self(), here) == 0, gate.value.isShut {
                gate.update { $0.isWaiting = true }
                try? gate.wait("the gate to open") { !$0.isShut }
            }
            return score
        }
        var isReady = false
        feed.keep(try sections.observe { _ in isReady = true })
        try feed.scheduler.turn { isReady }
        gate.update { $0.isShut = true }
        defer { gate.update { $0.isShut = false } }
        try test.store.write { try $0.add(Note(id: 20, score: 20)) }
        try gate.wait("upkeep to stand still") { $0.isWaiting }
        let startNs = monotonicNs()
        for id in 21..<31 { try feed.connection.write { try feed.connection.add(Note(id: id, score: id)) } }
        try test.store.write { try $0.add(Note(id: 31, score: 31)) }
        #expect(gate.value.isShut, "the writes took \((monotonicNs() - startNs) / 1_000_000) ms: as long as upkeep did")
        // Own writes show. Writes of other connections wait for a delivery.
        #expect(notes.count == 13)
        gate.update { $0.isShut = false }
        try feed.scheduler.turn { notes.count == 15 }
    }

    @Test("a write that waits for its turn runs no callback meanwhile")
    func waitingForLock() throws {
        try feed.observe("notes", notes)
        let isHeld = Watched(false)
        let mayGo = Watched(false)
        let holder = TracedThread("holder") { [test] in
            do {
                try test.store.write { connection in
                    isHeld.update { $0 = true }
                    try mayGo.wait("to be let go") { $0 }
                    try connection.add(Note(id: 9))
                }
            } catch { Issue.record(error) }
        }
        try isHeld.wait("the lock to be held") { $0 }
        #expect(throws: StoreError.writeTimedOut(after: .milliseconds(50))) {
            try feed.connection.write(timeout: .milliseconds(50)) {}
        }
        #expect(feed.log == [])
        mayGo.update { $0 = true }
        try feed.connection.write { #expect(feed.log == []) }
        holder.join()
        #expect(feed.takeLog() == [])
    }

    @Test("a write from a callback arrives in a later delivery, and callbacks never nest")
    func writeInCallback() throws {
        let test = try TestStore()
        let thread = RunLoopThread("writing")
        defer { thread.stop() }
        let depths = Watched<[Int]>([])
        let counts = Watched<[Int]>([])
        nonisolated(unsafe) var token: NotificationToken?
        try thread.performAndWait {
            nonisolated(unsafe) var depth = 0
            let notes = try test.store.connect(on: .runLoop).objects(Note.self)
            token = try notes.observe { change in
                depth += 1
                depths.update { $0.append(depth) }
                counts.update { $0.append(notes.count) }
                if notes.count < 5 {
                    do { try notes.connection.write { try notes.connection.add(Note(id: notes.count)) } } catch {
                        Issue.record(error)
                    }
                }
                depth -= 1
            }
        }
        try counts.wait("five notes") { $0.last == 5 }
        #expect(counts.value == [0, 1, 2, 3, 4, 5])
        #expect(depths.value.allSatisfy { $0 == 1 })
        try thread.performAndWait { token?.invalidate() }
    }

    @Test("a write inside a write is an error while another writer waits for its turn, too")
    func nestedWhileOneWaits() throws {
        let test = try TestStore()
        let page = test.store.core.storage.page
        nonisolated(unsafe) var contender: TracedThread?
        try test.store.write { _ in
            contender = TracedThread("contender") {
                do { try test.store.write { try $0.add(Note(id: 1)) } } catch { Issue.record(error) }
            }
            while cp_load32(page.waiting) == 0 { sched_yield() }
            #expect(throws: StoreError.writeInsideWrite) { try test.store.write(timeout: .seconds(1)) { _ in } }
        }
        contender?.join()
        #expect(try test.store.read { try $0.objects(Note.self).count } == 1)
    }

    @Test("no lock is held while user code runs, except the write lock around a write block")
    func noLocks() throws {
        Tracing.start()
        defer { Tracing.stop() }
        let test = try TestStore()
        let thread = RunLoopThread("locks")
        defer { thread.stop() }
        let seen = Watched<[[String]]>([])
        nonisolated(unsafe) var token: NotificationToken?
        try thread.performAndWait {
            let notes = try test.store.connect(on: .runLoop).objects(Note.self)
            token = try notes.observe { _ in
                let held = locksHeldHere()
                seen.update { $0.append(held) }
            }
        }
        try seen.wait("initial") { $0.count == 1 }
        let inWrite = try test.store.write { connection in
            try connection.add(Note(id: 1))
            return locksHeldHere()
        }
        try seen.wait("update") { $0.count == 2 }
        #expect(inWrite == ["store write lock"])
        #expect(seen.value == [[], []])
        try thread.performAndWait { token?.invalidate() }
    }
}

private func locksHeldHere() -> [String] {
    Tracing.heldByThisThread().filter { $0.kind == .mutex || $0.kind == .fileLock }.map(\.name)
}
