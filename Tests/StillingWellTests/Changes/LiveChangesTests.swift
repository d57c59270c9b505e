// Tests of asynchronous sequences of changes.
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Rule 14: changes as an asynchronous sequence", .timeLimit(.minutes(5)))
final class LiveChangesTests: NoteSuite {
    init() throws { try super.init(3) }

    /// Returns an iterator whose first element was taken.
    private func started() async throws -> LiveChanges<ResultsUpdate<Note>>.Iterator {
        let changes = try notes.changes()
        try feed.observe("ready", notes)
        var iterator = changes.makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(first.changes == nil && first.objectIDs == notes.objectIDs)
        return iterator
    }

    @Test("a slow loop gets all missed changes as one minimal change, without those that cancelled out")
    func coalesced() async throws {
        var iterator = try await started()
        for round in 0..<50 {
            try test.write {
                try $0.add(Note(id: 100 + round, score: 1_000 + round))
                if round > 0 { try $0.delete(try note(99 + round, $0)) }
                try note(1, $0).title = "\(round)"
            }
            try feed.catchUp()
        }
        let update = try #require(try await iterator.next())
        #expect(update.changes?.insertions == [3] && update.changes?.deletions == [])
        #expect(update.changes?.modifications == [1] && update.changes?.modificationsNew == [1])
        #expect(update.objectIDs == notes.objectIDs)
        try test.write { try $0.add(Note(id: 500)) }
        try feed.catchUp()
        try test.write { try $0.delete(try note(500, $0)) }
        try feed.catchUp()
        // The changes so far cancel out, so the next element is this one.
        try test.write { try note(2, $0).title = "last" }
        try feed.catchUp()
        let last = try #require(try await iterator.next())
        #expect(last.changes?.modifications == [2] && last.changes?.insertions == [])
    }

    @Test("an element's rows are those of its version, which it holds until it is released")
    func rows() async throws {
        var iterator = try notes.changes().makeAsyncIterator()
        try feed.observe("ready", notes)
        var first = try await iterator.next()
        try test.write { try note(1, $0).title = "later" }
        try feed.catchUp()
        #expect(try first?.rows.map { $0.title } == ["", "", ""])
        let second = try #require(try await iterator.next())
        #expect(try second.rows.map { $0.title } == ["", "later", ""] && second.rows.version == second.version)
        #expect(test.store.oldestPin?.version == first?.version)
        let ids = second.objectIDs
        #expect(try second.rows.thaw(on: feed.connection).objectIDs == ids)
        first = nil
        // Upkeep may hold a version for a moment.
        while let pin = test.store.oldestPin, pin.version < second.version { await Task.yield() }
    }

    @Test("a program may collect any number of elements, of which the newest hold their versions")
    func collected() async throws {
        var iterator = try notes.changes().makeAsyncIterator()
        try feed.observe("ready", notes)
        let surplus = 40
        var updates: [ResultsUpdate<Note>] = []
        var kept: FrozenResults<Note>?
        for round in 0..<LentSnapshots.most + surplus {
            if round > 0 {
                try test.write { try note(1, $0).title = "\(round)" }
                try feed.catchUp()
            }
            updates.append(try #require(try await iterator.next()))
            if round == 1 { kept = try updates[1].rows }
        }
        for (round, update) in updates.enumerated() {
            #expect(update.count == 3)
            if round < surplus {
                #expect(throws: StoreError.versionReleased(version: update.version)) { try update.rows }
            } else {
                #expect(try update.rows[1].title == "\(round)")
            }
        }
        #expect(kept?[1].title == "1")
        #expect(throws: Never.self) { try test.store.core.storage.openSnapshot() }
    }

    @Test("key paths select the same changes as with callbacks")
    func keyPaths() async throws {
        var iterator = try notes.changes(keyPaths: [\.score]).makeAsyncIterator()
        try feed.observe("ready", notes)
        try feed.observe("ready too", notes, keyPaths: [\.score])
        #expect(try await iterator.next() != nil)
        try test.write { try note(0, $0).title = "unobserved" }
        try feed.catchUp()
        try test.write { try note(2, $0).score = 21 }
        try feed.catchUp()
        #expect(try await iterator.next()?.changes?.modifications == [2])
    }

    @Test("an object's changes merge by property, and end with its deletion")
    func object() async throws {
        var iterator = try notes[1].changes().makeAsyncIterator()
        for score in [11, 12] {
            try test.write { try note(1, $0).score = score }
            try feed.catchUp()
        }
        try test.write { try note(1, $0).title = "a" }
        try feed.catchUp()
        #expect(
            try await iterator.next()
                == .changed([
                    PropertyChange(name: "score", oldValue: .int(10), newValue: .int(12)),
                    PropertyChange(name: "title", oldValue: .string(""), newValue: .string("a")),
                ]))
        try test.write { try $0.delete(try note(1, $0)) }
        try feed.catchUp()
        #expect(try await iterator.next() == .deleted)
        #expect(try await iterator.next() == nil)
    }

    @Test("the store's changes merge into the last one")
    func store() async throws {
        var iterator = try feed.connection.changes().makeAsyncIterator()
        for score in [11, 12] {
            try test.write { try note(1, $0).score = score }
            try feed.catchUp()
        }
        #expect(try await iterator.next() == StoreEvent(notification: .didChange, version: feed.connection.version))
    }

    @Test("closing the store finishes loops after the pending elements")
    func closed() async throws {
        var iterator = try await started()
        try test.write { try note(1, $0).score = 11 }
        try feed.catchUp()
        test.store.close()
        #expect(try await iterator.next()?.changes?.modifications == [1])
        #expect(try await iterator.next() == nil)
        #expect(throws: StoreError.closed) { _ = try notes.changes() }
    }

    @Test("closing the store ends a loop that waits")
    func closedWhileWaiting() async throws {
        let changes = test.store.changes(of: Note.self)
        let seen = Watched(0)
        let loop = Task {
            for try await _ in changes { seen.update { $0 += 1 } }
            return true
        }
        try await seen.reached("the first element") { $0 == 1 }
        test.store.close()
        #expect(try await loop.value)
    }

    @Test("a query that cannot be observed, or whose store is closed, ends the loop with the error")
    func unobservable() async throws {
        await #expect(throws: StoreError.unknownModel(type: "\(Other.self)")) {
            for try await _ in test.store.changes(of: Other.self) {}
        }
        // Sequences that are dropped at once, perhaps before their connections were opened.
        for _ in 0..<100 { _ = test.store.changes(of: Note.self) }
        test.store.close()
        await #expect(throws: StoreError.closed) { for try await _ in test.store.changes(of: Note.self) {} }
    }

    private final class Other: StoredObject {}

    @Test("cancelling the task ends the subscription, waiting or not")
    func cancelled() async throws {
        nonisolated(unsafe) weak var connection: Connection?
        let seen = Watched(0)
        do {
            let changes = test.store.changes(of: Note.self) {
                connection = $0.connection
                return $0
            }
            let loop = Task {
                for try await _ in changes { seen.update { $0 += 1 } }
                return Task.isCancelled
            }
            try await seen.reached("the first element") { $0 == 1 }
            loop.cancel()
            #expect(try await loop.value)
            var iterator = changes.makeAsyncIterator()
            #expect(try await iterator.next() == nil)
        }
        // The connection may be released later, on another thread.
        let isGone = Watched(false)
        nonisolated(unsafe) let check = { connection == nil }
        Thread.detachNewThread {
            while !check() { sched_yield() }
            isGone.update { $0 = true }
        }
        try await isGone.reached("the connection to go") { $0 }
    }

    @Test("after a sequence was dropped, other observers are told once")
    func dropped() async throws {
        var changes: LiveChanges<StoreEvent>? = try feed.connection.changes()
        #expect(changes != nil)
        changes = nil
        try feed.observeStore()
        try test.write { try note(1, $0).score = 11 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["store didChange"])
    }

    @Test("elements can be sent to any task, and their change sets rebuild the collection", arguments: 0..<4)
    func replay(_ round: Int) async throws {
        let changes = test.store.changes(of: Note.self) { $0.where(\.score >= 10).sorted(by: \.score) }
        let loop = Task { () throws -> (replayed: [ObjectID], last: [ObjectID]) in
            var replayed: [ObjectID] = []
            for try await update in changes {
                let now = update.objectIDs
                if let change = update.changes {
                    #expect(ChangeSetReplay.apply(change, to: &replayed, id: { $0 }) { now[$0] } == nil)
                } else {
                    replayed = now
                }
                guard replayed == now else { return (replayed, now) }
                if now.count == 202 { return (replayed, now) }
                await Task.yield()
            }
            return (replayed, [])
        }
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        for id in 0..<200 {
            try test.write {
                try $0.add(Note(id: 1_000 + id, score: 10 + random.below(500)))
                try note(2, $0).score = 10 + random.below(500)
            }
        }
        let (replayed, last) = try await loop.value
        #expect(replayed == last && last.count == 202, "TIDEGAUGE_SEED=\(seed)")
    }
}
