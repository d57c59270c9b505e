// Rule 15. Frozen objects and results are immutable snapshots for any thread. A `ThreadSafeReference` passes a live
// object to another thread.
import Foundation
import StillingWellSync
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Rule 15: frozen things are snapshots for any thread", .serialized, .onThreads)
struct Rule15FrozenTests {
    /// Runs `body` on a run-loop thread of its own.
    private func onThread<Result: Sendable>(_ body: @Sendable @escaping () throws -> Result) throws -> Result {
        let thread = RunLoopThread("rule-15")
        defer { thread.stop() }
        return try thread.performAndWait(body)
    }

    private func makeStore(notes: Int) throws -> TestStore {
        let test = try TestStore()
        try test.store.write { connection in
            for id in 0..<notes { try connection.add(Note(id: id, score: id * 10, title: "note \(id)")) }
        }
        return test
    }

    @Test("a whole store is read at the version of a frozen object or collection, on another thread")
    func wholeStore() throws {
        let test = try makeStore(notes: 100)
        let (one, all) = try test.store.read { connection in
            let notes = try connection.objects(Note.self)
            return (try notes.sorted(by: \.id)[7].freeze(), try notes.freeze())
        }
        // More commits than a version may be behind before it is moved to memory.
        for round in 0..<600 {
            try test.store.write { connection in
                let id = round % 120
                if let note = try connection.object(Note.self, forPrimaryKey: id) {
                    if id.isMultiple(of: 3) { try connection.delete(note) } else { note.score = -round }
                } else {
                    try connection.add(Note(id: id, score: 5_000, title: "new"))
                }
            }
        }
        let thread = TracedThread("reader") {
            for ask in [one.read, all.read] as [((Connection) throws -> [Int]) throws -> [Int]] {
                let found = try? ask { connection in
                    let notes = try connection.objects(Note.self).where(\.score >= 500)
                    return notes.sorted(by: \.score, ascending: false).map(\.id)
                }
                #expect(found == (50..<100).reversed())
                let byKey = try? ask { connection in
                    try (0..<120).filter { try connection.object(Note.self, forPrimaryKey: $0)?.score == $0 * 10 }
                }
                #expect(byKey == Array(0..<100))
            }
            #expect(throws: StoreError.self) { try one.read { try $0.add(Note(id: 500)) } }
        }
        thread.join()
    }

    @Test("frozen results on a connection with own writes hold one version: the newest it reads")
    func afterOwnWrites() throws {
        let test = try makeStore(notes: 3)
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self).where(\.score >= 10).sorted(by: \.score)
        #expect(notes.map(\.id) == [1, 2])
        // Another connection's commit precedes the own one. It shows in no row before its delivery.
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 2)).score = 0 }
        try connection.write { try connection.add(Note(id: 7, score: 70)) }
        #expect(notes.map(\.id) == [1, 2, 7])
        let frozen = try notes.freeze()
        #expect(frozen.map(\.id) == [1, 7] && frozen.map(\.score) == [10, 70])
        #expect(frozen.version == 3)
        #expect(throws: StoreError.freezeInWrite) { try connection.write { _ = try notes.freeze() } }
    }

    @Test("a frozen object keeps its values; that of a deleted object is invalidated, and a plain one is refused")
    func objects() throws {
        let test = try makeStore(notes: 2)
        let (first, gone) = try onThread { () throws -> (Frozen<Note>, Frozen<Note>) in
            let connection = try test.store.connect(on: .runLoop)
            let first = try #require(try connection.object(Note.self, forPrimaryKey: 0))
            let second = try #require(try connection.object(Note.self, forPrimaryKey: 1))
            let frozen = try first.freeze()
            try connection.write {
                first.title = "changed"
                try connection.delete(second)
            }
            #expect(frozen.title == "note 0" && first.title == "changed")
            let later = try first.freeze()
            #expect(later.title == "changed" && later != frozen && later.object.isFrozen && !first.isFrozen)
            let again = try later.object.freeze()
            #expect(again == later)
            return (frozen, try second.freeze())
        }
        #expect(first.title == "note 0" && first.score == 0 && first.due == nil)
        #expect(gone.isInvalidated && gone.objectID != first.objectID)
        #expect(throws: StoreError.notStored(type: "Note")) { try Note(id: 9).freeze() }
        // The store may be closed before the frozen objects are released.
        test.store.close()
        #expect(first.title == "note 0")
    }

    @Test("writing to something frozen is an error that names the way out")
    func immutable() throws {
        let test = try makeStore(notes: 1)
        let frozen = try test.store.read { try #require(try $0.objects(Note.self).first).freeze() }
        let object = frozen.object
        #expect(throws: StoreError.frozen) { try test.store.write { try $0.delete(object) } }
        #expect(throws: StoreError.frozen) { try test.store.write { try $0.add(object) } }
        #expect(throws: StoreError.frozen) { try object.connection?.write {} }
        #expect("\(StoreError.frozen)".contains("thaw(on:"))
        #expect(frozen.title == "note 0")
    }

    @Test("frozen things thaw on a live connection, which need not have seen their version yet")
    func thawing() throws {
        let test = try makeStore(notes: 3)
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        try test.store.write { writing in
            try writing.add(Note(id: 3, score: 5))
            try writing.delete(try #require(try writing.object(Note.self, forPrimaryKey: 0)))
        }
        let (new, all) = try test.store.read { reading in
            (
                try #require(try reading.object(Note.self, forPrimaryKey: 3)).freeze(),
                try reading.objects(Note.self).freeze()
            )
        }
        #expect(connection.version == 1)
        let live = try #require(try new.thaw(on: connection))
        #expect(live.score == 5 && !live.isFrozen && !live.isInvalidated)
        try connection.write { live.score = 6 }
        #expect(live.score == 6 && new.score == 5)
        #expect(try all.thaw(on: connection).map(\.id).sorted() == [0, 1, 2, 3], "others' rows wait for a delivery")
        try scheduler.turn { connection.version >= 3 }
        #expect(try all.thaw(on: connection).map(\.id).sorted() == [1, 2, 3])
        try connection.write { try connection.delete(live) }
        #expect(try new.thaw(on: connection) == nil)

        let other = try TestStore()
        let foreign = try other.store.connect(on: .scheduler(ManualScheduler()))
        #expect(throws: StoreError.self) { _ = try new.thaw(on: foreign) }
    }

    @Test("a reference carries a live object and live results to another connection")
    func references() throws {
        let test = try makeStore(notes: 3)
        typealias References = (
            ThreadSafeReference<Note>, ThreadSafeReference<Results<Note>>, ThreadSafeReference<Note>
        )
        let (object, results, deleted) = try onThread { () throws -> References in
            let connection = try test.store.connect(on: .runLoop)
            let fresh = Note(id: 10, score: 100)
            try connection.write { try connection.add(fresh) }
            let deleted = try #require(try connection.object(Note.self, forPrimaryKey: 1))
            let references = (
                try ThreadSafeReference(to: fresh),
                ThreadSafeReference(to: try connection.objects(Note.self).sorted(by: \.id)),
                try ThreadSafeReference(to: deleted)
            )
            try connection.write { try connection.delete(deleted) }
            return references
        }
        try onThread {
            let connection = try test.store.connect(on: .runLoop)
            let note = try #require(try connection.resolve(object))
            #expect(note.id == 10 && note.connection === connection)
            #expect(try connection.resolve(results).map(\.id) == [0, 2, 10])
            #expect(try connection.resolve(deleted) == nil)
            try connection.write {
                note.score += 1
                let again = try connection.resolve(object)
                #expect(again?.score == 101)
            }
        }
        #expect(throws: StoreError.notStored(type: "Note")) { try ThreadSafeReference(to: Note()) }
        test.store.close()
        #expect(throws: StoreError.closed) {
            try test.store.read { try $0.resolve(object) }
        }
    }

    @Test("a frozen object is listed among the active versions, with its source line, until it is released")
    func pins() throws {
        let test = try makeStore(notes: 1)
        #expect(test.store.oldestPin == nil && test.store.activeVersions == 1)
        var frozen: FrozenResults<Note>? = try test.store.read { try $0.objects(Note.self).freeze() }
        let line = #line - 1
        for score in 0..<10 {
            try test.store.write { try #require(try $0.objects(Note.self).first).score = score }
        }
        let pin = try #require(test.store.oldestPin)
        #expect(pin.version == frozen?.version && pin.process == getpid())
        #expect(pin.place == "StillingWellTests/Rule15FrozenTests.swift:\(line)")
        #expect((pin.age ?? .seconds(-1)) >= .zero)
        #expect(test.store.activeVersions == 11)
        frozen = nil
        #expect(test.store.oldestPin == nil && test.store.activeVersions == 1)
    }
}
