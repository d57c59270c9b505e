// Rule 4. The kind of a change depends on what was written, even if no value differs.
import Foundation
import StillingWell
import Testing

@Suite("Rule 4: what is a modification, an insertion, a deletion, or nothing")
struct Rule04ModificationTests {
    private let test: TestStore
    private let feed: Feed
    private let notes: Results<Note>

    init() throws {
        test = try TestStore()
        try test.store.write { for id in 0..<4 { try $0.add(Note(id: id, score: id * 10)) } }
        feed = try Feed(test.store)
        notes = try feed.connection.objects(Note.self).sorted(by: \.id)
    }

    private func change(_ body: (Connection) throws -> Void) throws {
        try test.store.write(body)
        try feed.catchUp()
    }

    private func note(_ id: Int, _ connection: Connection) throws -> Note {
        try #require(try connection.object(Note.self, forPrimaryKey: id))
    }

    @Test("setting a property to the value it has is a modification")
    func sameValue() throws {
        try feed.observe("notes", notes)
        try feed.observe("score", notes, keyPaths: [\.score])
        try feed.observe("object", try note(1, feed.connection))
        try change { try note(1, $0).score = 10 }
        #expect(Set(feed.takeLog()) == ["notes ~1>1", "score ~1>1", "object score 10 to 10"])
        // The same holds if the rows are sorted by that property.
        try feed.observe("by score", notes.sorted(by: \.score))
        try change { try note(2, $0).score = 20 }
        #expect(feed.takeLog().contains("by score ~2>2"))
    }

    @Test("a key that is deleted and made again in one write is a deletion and an insertion")
    func recreated() throws {
        let old = try #require(try note(2, feed.connection).objectID)
        try feed.observe("notes", notes)
        var ids: [ObjectID] = []
        var isReady = false
        feed.keep(
            try notes.observe { change in
                if case .initial = change { isReady = true }
                if case .update(_, let changes) = change { ids = changes.deletedIDs }
            })
        try feed.scheduler.turn { isReady }
        try change { connection in
            try connection.delete(note(2, connection))
            try connection.add(Note(id: 2, score: 20))
        }
        #expect(feed.takeLog() == ["notes -2 +2"])
        #expect(ids == [old] && notes[2].objectID != old)
        // The same holds for two commits that are delivered together.
        try test.store.write { connection in try connection.delete(note(3, connection)) }
        try change { try $0.add(Note(id: 3, score: 30)) }
        #expect(feed.takeLog() == ["notes -3 +3"])
    }

    @Test("entering the filter is an insertion only, leaving it a deletion only")
    func filter() throws {
        // Three queries have the filter: with an order, without one, and with another observed property.
        try feed.observe("window", notes.where(\.score >= 20).sorted(by: \.score))
        try feed.observe("filter", notes.where(\.score >= 20))
        try feed.observe("title", notes.where(\.score >= 20), keyPaths: [\.title])
        try change {
            let note = try note(0, $0)
            note.score = 25
            note.title = "entered"
        }
        #expect(Set(feed.takeLog()) == ["window +1", "filter +0", "title +0"])
        try change {
            let note = try note(0, $0)
            note.title = "left"
            note.score = 5
        }
        #expect(Set(feed.takeLog()) == ["window -1", "filter -0", "title -0"])
    }

    @Test("changes outside of the filter, of columns that are not observed, or undone in their write, are not told")
    func nothing() throws {
        try feed.observe("low", notes.where(\.score < 20))
        try feed.observe("title", notes, keyPaths: [\.title])
        try feed.observe("shallow", notes, keyPaths: [])
        try change { try note(3, $0).score = 31 }
        try change { connection in
            let passing = Note(id: 9, score: 5)
            try connection.add(passing)
            try connection.delete(passing)
        }
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try change { connection in
                try note(0, connection).title = "never"
                throw Stop()
            }
        }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }
}
