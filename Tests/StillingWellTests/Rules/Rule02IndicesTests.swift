// Rule 2. Which index space each list of a change set counts in. Beyond Realm: rows that change their place are told as
// moves too, all of them (in Realm a moved row is a deletion and an insertion that nothing ties together), and deleted
// rows are named by their ids (in Realm they are gone by the time one is told, and the index is all there is).
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellEngine

@Suite("Rule 2: deletions and modifications count in the old collection, insertions in the new one")
struct Rule02IndicesTests {
    private let test: TestStore
    private let feed: Feed
    private let notes: Results<Note>
    private var told: [ChangeSet] { box.told }
    private let box = Box()

    private final class Box { var told: [ChangeSet] = [] }

    struct Failure: Error {
        let told: [Told]
        init(_ told: [Told]) { self.told = told }
    }

    init() throws {
        test = try TestStore()
        try test.store.write { for id in 0..<6 { try $0.add(Note(id: id, score: id * 10)) } }
        feed = try Feed(test.store)
        notes = try feed.connection.objects(Note.self).sorted(by: \.score)
    }

    /// What one commit is told as, which is about something.
    private func changes(_ body: (Connection) throws -> Void) throws -> ChangeSet {
        try #require(try changesIfAny(body))
    }

    /// What one commit is told as; nil where it is not told.
    private func changesIfAny(_ body: (Connection) throws -> Void) throws -> ChangeSet? {
        var isReady = false
        let token = feed.keep(
            try notes.observe { [box] change in
                if case .initial = change { isReady = true }
                if case .update(_, let changes) = change { box.told.append(changes) }
            })
        try feed.scheduler.turn { isReady }
        try test.store.write(body)
        try feed.catchUp()
        token.invalidate()
        return told.last
    }

    private func note(_ id: Int, _ connection: Connection) throws -> Note {
        try #require(try connection.object(Note.self, forPrimaryKey: id))
    }

    @Test("a window before which rows come and go shows its own rows in the callback")
    func shiftedWindow() throws {
        let window = try feed.connection.objects(Note.self).where(\.score >= 30 && \.score < 60).sorted(by: \.score)
        var shown: [[Int]] = []
        let token = feed.keep(
            try window.observe { change in
                if case .initial(let notes) = change { shown.append(notes.map(\.id)) }
                if case .update(let notes, _) = change { shown.append(notes.map(\.id)) }
            })
        try feed.scheduler.turn { shown == [[3, 4, 5]] }
        try test.store.write { try note(4, $0).score = 51 }
        try feed.catchUp()
        // Not in the window, and in front of it.
        try test.store.write { for id in 10..<13 { try $0.add(Note(id: id, score: id)) } }
        try feed.catchUp()
        try test.store.write { try note(3, $0).score = 59 }
        try feed.catchUp()
        #expect(shown == [[3, 4, 5], [3, 5, 4], [5, 4, 3]])
        token.invalidate()
    }

    @Test("the first callback is the initial one, later ones say what changed", arguments: Durability.allCases)
    func updates(_ durability: Durability) throws {
        let test = try TestStore(durability: durability)
        let store = test.store
        try store.write { for id in 0..<5 { try $0.add(Note(id: id, score: id * 10)) } }
        let observer = try Observer(store)
        defer { observer.stop() }
        try observer.observe { $0.where(\.score >= 10).sorted(by: \.score, ascending: false) }
        try observer.told.wait("initial") { $0 == [.initial([4, 3, 2, 1])] }

        try store.write { try #require(try $0.object(Note.self, forPrimaryKey: 1)).score = 35 }
        let told = try observer.told.wait("update") { $0.count == 2 }
        guard case .update(let changes, let ids) = told[1] else { throw Failure(told) }
        #expect(ids == [4, 1, 3, 2])
        #expect(changes.deletions == [3])
        #expect(changes.insertions == [1])
        #expect(changes.modifications.isEmpty)
        #expect(changes.moves == [Move(from: 3, to: 1)])
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

    @Test("a key that changes without passing another row is a modification")
    func keyInPlace() throws {
        let changes = try changes { try note(2, $0).score = 25 }
        #expect(changes.modifications == [2] && changes.modificationsNew == [2])
        #expect(changes.deletions == [] && changes.insertions == [] && changes.moves == [])
    }

    @Test("a row that leaves over the end of a window is deleted, with its id, though its object lives on")
    func leftWindow() throws {
        let low = notes.where(\.score < 30)
        var seen: ChangeSet?
        var isReady = false
        feed.keep(
            try low.observe { change in
                if case .initial = change { isReady = true }
                if case .update(_, let changes) = change { seen = changes }
            })
        try feed.scheduler.turn { isReady }
        let id = low[1].objectID
        try test.store.write { try note(1, $0).score = 99 }
        try feed.catchUp()
        #expect(seen?.deletions == [1] && seen?.deletedIDs == [id].compactMap(\.self) && seen?.moves == [])
    }

    @Test("moves tie up their ends, completely, after any number of coalesced commits", arguments: 0..<20)
    func complete(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let old = notes.objectIDs
        var staying = Set(old)
        let told = try changesIfAny { connection in
            for _ in 0..<(1 + random.below(12)) {
                let id = random.below(8)
                guard let note = try connection.object(Note.self, forPrimaryKey: id) else {
                    try connection.add(Note(id: id, score: random.below(70)))
                    continue
                }
                if let id = note.objectID { staying.remove(id) }
                if random.oneIn(5) { try connection.delete(note) } else { note.score = random.below(70) }
            }
        }
        let new = notes.objectIDs
        let comment: Comment = "\(told.map { "\($0)" } ?? "not told"), TIDEGAUGE_SEED=\(seed)"
        guard let changes = told else {
            // All that the commit has changed are rows that it has added, and they are gone.
            #expect(old == new && staying.count == old.count, comment)
            return
        }
        for move in changes.moves {
            #expect(old[move.from] == new[move.to], comment)
            #expect(changes.deletions.contains(move.from) && changes.insertions.contains(move.to), comment)
        }
        for (from, to) in zip(changes.modifications, changes.modificationsNew) {
            #expect(old[from] == new[to], comment)
        }
        // A row that is there before and after, and among the insertions, is a move.
        let came = changes.insertions.filter { old.contains(new[$0]) }
        #expect(Set(came) == Set(changes.moves.map(\.to)), comment)
        #expect(changes.deletedIDs == changes.deletions.map { old[$0] }.filter { !new.contains($0) }, comment)
    }
}
