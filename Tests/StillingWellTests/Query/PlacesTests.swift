// Tests of an object's index in results, compared with a linear search.
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Indices of objects")
struct PlacesTests {
    private static func queries(_ notes: Results<Note>) -> [Results<Note>] {
        [
            notes, notes.sorted(by: \.score, ascending: false), notes.where(\.score > 40).sorted(by: \.score),
            notes.where(\.done == false).sorted(by: \.title), notes.sorted(by: \.score).limited(to: 7),
            notes.sorted(by: \.score).distinct(by: [\.group]),
        ]
    }

    /// Returns where `index(ofID:)` and `path(ofID:)` differ from a search.
    private static func differences(_ notes: Results<Note>, _ ids: [ObjectID]) -> [String] {
        var found: [String] = []
        for (number, query) in queries(notes).enumerated() {
            let shown = query.objectIDs
            for id in ids where query.index(ofID: id) != shown.firstIndex(of: id) { found.append("\(number): \(id)") }
        }
        let sections = notes.sorted(by: \.score).sectioned(by: \.group)
        var paths: [ObjectID: RowPath] = [:]
        for (index, section) in sections.enumerated() {
            for (row, id) in section.objectIDs.enumerated() { paths[id] = RowPath(section: index, row: row) }
        }
        for id in ids where sections.path(ofID: id) != paths[id] { found.append("sections: \(id)") }
        return found
    }

    @Test("an index and a path are where a search finds the object: before, in and after a write, and in a callback")
    func places() throws {
        let test = try TestStore()
        var random = SeededRandom(seed: SeededRandom.base)
        try test.store.write { connection in
            for id in 0..<60 {
                try connection.add(Note(id: id, score: random.below(100), group: random.below(5)))
            }
        }
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self)
        let ids = notes.objectIDs + [ObjectID(rawValue: 1_000_000)]
        var inCallback: [String] = []
        let token = try notes.observe { change in
            if case .update(let notes, _) = change { inCallback += Self.differences(notes, ids) }
        }
        #expect(Self.differences(notes, ids).isEmpty)
        for _ in 0..<10 {
            try feed.connection.write {
                for _ in 0..<5 {
                    let note = try #require(try feed.connection.object(Note.self, withID: ids[random.below(40)]))
                    (note.score, note.group) = (random.below(100), random.below(5))
                }
                if let last = Array(notes.sorted(by: \.id)).last, last.id >= 40 { try feed.connection.delete(last) }
                #expect(Self.differences(notes, ids).isEmpty)
            }
            #expect(Self.differences(notes, ids).isEmpty)
            try test.store.write { connection in
                for note in try connection.objects(Note.self) where random.oneIn(10) { note.score = random.below(100) }
            }
            #expect(Self.differences(notes, ids).isEmpty)
            // The write sees what others have committed, and results do not show it yet.
            try feed.connection.write {
                let note = try feed.connection.object(Note.self, withID: ids[random.below(40)])
                note?.score = random.below(100)
                #expect(Self.differences(notes, ids).isEmpty, "TIDEGAUGE_SEED=\(SeededRandom.base)")
            }
            #expect(Self.differences(notes, ids).isEmpty)
            try feed.catchUp()
        }
        #expect(inCallback.isEmpty, "TIDEGAUGE_SEED=\(SeededRandom.base)")
        token.invalidate()
        #expect(try notes.index(of: Note(id: 1)) == nil)
    }

    @Test(
        "sections as a sequence make up the sections again, whatever was missed", .timeLimit(.minutes(5)),
        arguments: 0..<4)
    func sectionSequence(_ round: Int) async throws {
        let test = try TestStore()
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let feed = try Feed(test.store)
        let sections = try feed.connection.objects(Note.self).sorted(by: \.score).sectioned(by: \.group)
        let changes = try sections.changes()
        // The first evaluation takes time, and nothing is delivered while the loop waits.
        try feed.scheduler.turn()
        var iterator = changes.makeAsyncIterator()
        var replayed: [[ObjectID]] = []
        var next = 0
        for step in 0..<40 {
            for _ in 0..<random.below(4) {
                try test.write { connection in
                    next += 1
                    try connection.add(Note(id: next, score: random.below(50), group: random.below(6)))
                    for note in try connection.objects(Note.self) where random.oneIn(8) {
                        switch random.below(3) {
                        case 0: note.score = random.below(50)
                        case 1: note.group = random.below(6)
                        default: try connection.delete(note)
                        }
                    }
                }
                try feed.catchUp()
            }
            // A change that is delivered in any case.
            try test.write { try $0.add(Note(id: -1 - step, group: random.below(6))) }
            try feed.catchUp()
            let update = try #require(try await iterator.next())
            if let change = update.changes {
                let problem = ChangeSetReplay.apply(ToldChanges(change), to: &replayed, id: { $0 }) {
                    update.objectID(at: $0)
                }
                #expect(problem == nil)
            } else {
                replayed = (0..<update.sectionCount).map { section in
                    (0..<update.count(ofSection: section)).map {
                        update.objectID(at: RowPath(section: section, row: $0))
                    }
                }
            }
            #expect(replayed == sections.map(\.objectIDs), "TIDEGAUGE_SEED=\(seed)")
        }
    }
}
