// Tests of observers of single properties, called synchronously at the set and in the delivery, and of Swift's
// Observation.
import Observation
import Testing

@testable import StillingWell

@Suite("Observing a property synchronously")
struct PropertyObservingTests {
    private let test: TestStore
    private let feed: Feed
    private let note: Note

    init() throws {
        test = try TestStore()
        try test.store.write { for id in 0..<3 { try $0.add(Note(id: id, score: id * 10)) } }
        feed = try Feed(test.store)
        note = try #require(try feed.connection.object(Note.self, forPrimaryKey: 1))
    }

    private func observe(_ options: PropertyOptions) throws -> NotificationToken {
        feed.keep(
            try note.observe(\.score, options: options) { [feed] note, update in
                let values = [update.oldValue, update.newValue].map { $0.map { "\($0)" } ?? "nil" }
                let kind = update.isPrior ? "prior" : (update.isOwnWrite ? "own" : "told")
                feed.note("\(kind) \(values[0]) to \(values[1]), reads \(note.score)")
            })
    }

    private func change(_ body: @escaping (Note) -> Void) throws {
        try test.store.write { body(try #require(try $0.object(Note.self, forPrimaryKey: 1))) }
    }

    @Test("an own write is reported when the property is set, with old and new value, inside the block")
    func own() throws {
        _ = try observe([.old, .new, .prior])
        try feed.connection.write {
            note.score = 11
            #expect(feed.takeLog() == ["prior 10 to nil, reads 10", "own 10 to 11, reads 11"])
            note.score = 11
            #expect(feed.takeLog() == ["prior 11 to nil, reads 11", "own 11 to 11, reads 11"])
            note.title = "another property"
        }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }

    @Test("an own write through another instance of the same object is reported too")
    func otherInstance() throws {
        _ = try observe([.new])
        try feed.connection.write { try feed.connection.object(Note.self, forPrimaryKey: 1)?.score = 12 }
        #expect(feed.takeLog() == ["own nil to 12, reads 12"])
    }

    @Test("a foreign write is told in the delivery, if the value differs")
    func delivered() throws {
        _ = try observe([.old, .new])
        try change { $0.score = 11 }
        #expect(feed.takeLog() == [])
        try feed.catchUp()
        #expect(feed.takeLog() == ["told 10 to 11, reads 11"])
        try change { $0.score = 12 }
        try change { $0.score = 11 }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }

    @Test("an own value that another connection has replaced before the delivery is told as a foreign change")
    func replaced() throws {
        _ = try observe([.old, .new])
        try feed.connection.write { note.score = 11 }
        try change { $0.score = 50 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["own 10 to 11, reads 11", "told 11 to 50, reads 50"])
    }

    @Test("a cancelled write changes back what it had set")
    func cancelled() throws {
        struct Stop: Error {}
        _ = try observe([.old, .new])
        #expect(throws: Stop.self) {
            try feed.connection.write {
                note.score = 11
                throw Stop()
            }
        }
        #expect(feed.takeLog() == ["own 10 to 11, reads 11", "told 11 to 10, reads 10"])
    }

    @Test("the initial call comes from inside observe; none comes after invalidate or a deletion")
    func ends() throws {
        let token = try observe([.initial, .new])
        #expect(feed.takeLog() == ["told nil to 10, reads 10"])
        token.invalidate()
        try feed.connection.write { note.score = 11 }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
        #expect(try feed.connection.live().observedCells?.isEmpty == true)
        _ = try observe([.new])
        try test.store.write { try $0.delete(try #require(try $0.object(Note.self, forPrimaryKey: 1))) }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
        #expect(try feed.connection.live().observedCells?.isEmpty == true)
    }

    @Test("a callback inside a write block may write other objects, and begin no other write")
    func inside() throws {
        let other = try #require(try feed.connection.object(Note.self, forPrimaryKey: 2))
        var refusal: StoreError?
        feed.keep(
            try note.observe(\.score) { [feed] _, update in
                other.score = update.newValue ?? 0
                do { try feed.connection.write {} } catch { refusal = error as? StoreError }
            })
        try feed.connection.write { note.score = 33 }
        #expect(other.score == 33 && refusal == .writeInsideWrite)
    }
}

private final class Tracked: StoredObject, Observable {
    @Stored(.primaryKey) var id = 0
    @Stored var score = 0
    @Stored var title = ""
}

@Suite("Swift's Observation")
struct ObservationTests {
    private let test: TestStore
    private let feed: Feed
    private let object: Tracked

    init() throws {
        test = try TestStore([Tracked.self, Note.self])
        try test.store.write {
            try $0.add(Tracked())
            try $0.add(Note(id: 1))
        }
        feed = try Feed(test.store)
        object = try #require(try feed.connection.objects(Tracked.self).first)
    }

    private func track(_ name: String, _ read: () -> Void) {
        nonisolated(unsafe) let feed = feed
        withObservationTracking(read) { feed.note(name) }
    }

    private func change(_ body: @escaping (Tracked) -> Void) throws {
        try test.store.write { body(try #require(try $0.objects(Tracked.self).first)) }
    }

    @Test("a property that was read fires at an own write, once")
    func own() throws {
        track("score") { _ = object.score }
        try feed.connection.write { object.title = "another" }
        #expect(feed.takeLog() == [])
        try feed.connection.write {
            // Another instance of the same object.
            try feed.connection.objects(Tracked.self).first?.score = 1
            #expect(feed.takeLog() == ["score"])
            object.score = 2
        }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }

    @Test("a property that was read fires at a delivery that changes it")
    func delivered() throws {
        track("score") { _ = object.score }
        track("title") { _ = object.title }
        try change { $0.score = 1 }
        #expect(feed.takeLog() == [])
        try feed.catchUp()
        #expect(feed.takeLog() == ["score"])
        try test.store.write { try $0.delete(try #require(try $0.objects(Tracked.self).first)) }
        try feed.catchUp()
        #expect(feed.takeLog() == ["title"])
    }

    @Test("a delivery does not fire again for what an own write has fired for")
    func notTwice() throws {
        track("first") { _ = object.score }
        try feed.connection.write { object.score = 1 }
        track("second") { _ = object.score }
        try feed.catchUp()
        #expect(feed.takeLog() == ["first"])
        try change { $0.score = 2 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["second"])
    }

    @Test("no state is kept for properties that were not tracked or have fired")
    func free() throws {
        _ = object.score
        #expect(try feed.connection.live().observedCells == nil)
        let note = try #require(try feed.connection.object(Note.self, forPrimaryKey: 1))
        track("no model of Observation") { _ = note.score }
        #expect(try feed.connection.live().observedCells == nil)
        track("score") { _ = object.score }
        #expect(try feed.connection.live().observedCells?.isEmpty == false)
        try feed.connection.write { object.score = 1 }
        try feed.catchUp()
        #expect(try feed.connection.live().observedCells?.isEmpty == true)
    }
}
