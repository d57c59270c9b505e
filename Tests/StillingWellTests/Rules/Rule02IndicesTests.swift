// Rule 2. The index space of each list in a change set. (In Realm, a move is an unrelated deletion and insertion.)
import Testing

@testable import StillingWell

@Suite("Rule 2: deletions and modifications count in the old collection, insertions in the new one")
struct Rule02IndicesTests {
    private let test: TestStore
    private let feed: Feed
    private let notes: Results<Note>

    init() throws {
        test = try TestStore()
        try test.store.write { for id in 0..<6 { try $0.add(Note(id: id, score: id * 10)) } }
        feed = try Feed(test.store)
        notes = try feed.connection.objects(Note.self).sorted(by: \.score)
    }

    /// Returns the change set of one commit.
    private func changes(_ body: (Connection) throws -> Void) throws -> ChangeSet {
        var isReady = false
        var told: ChangeSet?
        feed.keep(
            try notes.observe { change in
                if case .initial = change { isReady = true }
                if case .update(_, let changes) = change { told = changes }
            })
        try feed.scheduler.turn { isReady }
        try test.store.write(body)
        try feed.catchUp()
        return try #require(told)
    }

    private func note(_ id: Int, _ connection: Connection) throws -> Note {
        try #require(try connection.object(Note.self, forPrimaryKey: id))
    }

    @Test("each list counts in its own space, and deleted rows have ids")
    func spaces() throws {
        let gone = try [1, 3].map { try #require(try note($0, feed.connection).objectID) }
        let changes = try changes { connection in
            try connection.delete(note(1, connection))
            try connection.delete(note(3, connection))
            try connection.add(Note(id: 9, score: -5))
            try connection.add(Note(id: 10, score: 45))
            try note(4, connection).title = "new"
        }
        // Before: 0 1 2 3 4 5; after: 9 0 2 4 10 5.
        #expect(changes.deletions == [1, 3])
        #expect(changes.insertions == [0, 4])
        #expect(changes.modifications == [4] && changes.modificationsNew == [3])
        #expect(changes.moves == [])
        #expect(changes.deletedIDs == gone)
    }

    @Test("a row that moved because its key changed is a move, a deletion and an insertion, and no modification")
    func moved() throws {
        let gone = [try #require(try note(2, feed.connection).objectID)]
        let changes = try changes { connection in
            try note(0, connection).score = 35
            try note(5, connection).score = 5
            try connection.delete(note(2, connection))
        }
        // Before: 0 1 2 3 4 5; after: 5 1 3 0 4.
        #expect(changes.deletions == [0, 2, 5] && changes.insertions == [0, 3])
        #expect(changes.modifications == [] && changes.modificationsNew == [])
        #expect(changes.moves == [Move(from: 0, to: 3), Move(from: 5, to: 0)])
        // Moved rows are not among the deleted ones.
        #expect(changes.deletedIDs == gone)
    }
}
