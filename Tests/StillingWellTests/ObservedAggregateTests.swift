// Tests of sums, means and extremes of observed results.
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellTree

/// Notes, and a connection that is refreshed after each write.
private final class ObservedNotes {
    let test: TestStore
    let connection: Connection
    private var tokens: [NotificationToken] = []

    init(_ scores: [Int], _ models: [StoredObject.Type] = [Note.self]) throws {
        test = try TestStore(models, durability: .memory)
        connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        try write { connection in
            for (id, score) in scores.enumerated() { try connection.add(Note(id: id, score: score)) }
        }
    }

    deinit { for token in tokens { token.invalidate() } }

    var notes: Results<Note> {
        get throws { try connection.objects(Note.self) }
    }

    /// Observes, and writes until the first callback.
    @discardableResult
    func observe(_ results: Results<Note>, keyPaths: [PartialKeyPath<Note>]? = nil) throws -> NotificationToken {
        let told = Watched(false)
        let body = { (_: ResultsChange<Note>) in told.update { $0 = true } }
        let token = try keyPaths.map { try results.observe(keyPaths: $0, body) } ?? results.observe(body)
        tokens.append(token)
        while !told.value { try write { try $0.object(Note.self, forPrimaryKey: 0)?.tag = UUID() } }
        return token
    }

    /// Writes on another connection and delivers.
    func write(_ body: (Connection) throws -> Void) throws {
        try test.store.write(body)
        try connection.refresh()
    }

    func set(_ id: Int, _ body: (Note) -> Void) throws {
        try write { try $0.object(Note.self, forPrimaryKey: id).map(body) }
    }

    /// Writes until the tree of the results satisfies `condition`, up to 100,000 times.
    func writeUntil(_ results: Results<Note>, _ condition: (Measures) -> Bool) throws {
        for _ in 0..<100_000 {
            if condition(results.rows.tree.measures) { return }
            try set(0) { $0.tag = UUID() }
        }
        Issue.record("the condition does not hold after 100,000 commits")
    }
}

/// Aggregates of some results.
private struct Numbers: Equatable {
    let score: [Int?]
    let group: [Int?]
    let weight: [Double?]
    let due: [Date?]
    let means: [Double?]

    init(_ notes: Results<Note>) {
        score = [notes.sum(\.score), notes.min(\.score), notes.max(\.score)]
        group = [notes.sum(\.group), notes.min(\.group), notes.max(\.group)]
        weight = [notes.sum(\.weight), notes.min(\.weight), notes.max(\.weight)]
        due = [notes.min(\.due), notes.max(\.due)]
        means = [notes.average(\.score), notes.average(\.group), notes.average(\.weight)]
    }

    init(_ notes: [NoteValue]) {
        func ends<Value: Comparable>(_ values: [Value]) -> [Value?] { [values.min(), values.max()] }
        func mean(_ values: [Double]) -> Double? { values.isEmpty ? nil : values.reduce(0, +) / Double(values.count) }
        let groups = notes.compactMap(\.group)
        let weights = notes.map(\.weight)
        score = [notes.reduce(0) { $0 + $1.score }] + ends(notes.map(\.score))
        group = [groups.reduce(0, +)] + ends(groups)
        weight = [weights.reduce(0, +)] + ends(weights)
        due = ends(notes.compactMap(\.due))
        means = [mean(notes.map { Double($0.score) }), mean(groups.map(Double.init)), mean(weights)]
    }
}

@Suite("Aggregates of observed results")
struct ObservedAggregateTests {
    @Test("are kept from the first request on, by every query over the rows, and are those of the rows")
    func kept() throws {
        let observed = try ObservedNotes(Array(0..<300))
        let all = try observed.notes
        let high = all.where(\.score >= 100).sorted(by: \.score)
        let queries = [
            all, high, high.limited(to: 7), all.where(\.score >= 40 && \.score < 90).sorted(by: \.score),
            all.sorted(by: \.weight).distinct(by: [\.group]), all.sorted(by: \.score, ascending: false).limited(to: 0),
        ]
        for query in queries { try observed.observe(query) }
        #expect(queries.allSatisfy { $0.rows.tree.measures.isEmpty })
        for query in queries {
            #expect(query.sum(\.score) == query.reduce(0) { $0 + $1.score })
            // Columns that one query has requested are known to all queries over its tree.
            try observed.writeUntil(query) { $0.place(of: 2) != nil }
            _ = Numbers(query)
            try observed.writeUntil(query) { $0.columns.nonzeroBitCount == 4 }
        }
        var random = SeededRandom(seed: SeededRandom.base)
        for step in 0..<200 {
            try observed.write { connection in
                for _ in 0..<(random.oneIn(10) ? 60 : 1) {
                    let id = random.below(320)
                    let note = try connection.object(Note.self, forPrimaryKey: id)
                    if let note, random.oneIn(8) {
                        try connection.delete(note)
                        continue
                    }
                    let changed = note ?? Note(id: id)
                    changed.score = random.below(300)
                    changed.weight = Double(random.below(9)) / 4 - 1
                    changed.group = random.oneIn(3) ? nil : random.below(30) - 5
                    changed.due = random.oneIn(3) ? nil : Date(timeIntervalSinceReferenceDate: Double(random.below(50)))
                    if note == nil { try connection.add(changed) }
                }
            }
            for (number, query) in queries.enumerated() {
                #expect(query.knownSummary(2) != nil)
                let values = query.map { note in
                    NoteValue(
                        key: note.id, birth: 0, score: note.score, weight: note.weight, done: false, title: "",
                        due: note.due, group: note.group, version: 0)
                }
                try #require(
                    Numbers(query) == Numbers(values),
                    "query \(number), step \(step), TIDEGAUGE_SEED=\(SeededRandom.base)")
            }
        }
    }

    @Test("sums saturate at the end of the range of Int and return from it")
    func overflow() throws {
        let observed = try ObservedNotes([.max, 1, 5])
        let notes = try observed.notes
        try observed.observe(notes)
        #expect(notes.sum(\.score) == .max)
        try observed.writeUntil(notes) { !$0.isEmpty }
        try observed.set(1) { $0.score = -7 }
        #expect(notes.knownSummary(2) != nil && notes.sum(\.score) == .max - 2)
        try observed.set(0) { $0.score = .min }
        #expect(notes.sum(\.score) == .min)
        try observed.write { try $0.deleteAll(Note.self) }
        #expect(notes.sum(\.score) == 0 && notes.average(\.score) == nil && notes.max(\.score) == nil)
    }

    @Test("are computed from the rows after an own write, and maintained again after its delivery")
    func ownWrites() throws {
        let observed = try ObservedNotes([1, 2, 3])
        let notes = try observed.notes
        try observed.observe(notes)
        #expect(notes.sum(\.score) == 6)
        try observed.writeUntil(notes) { !$0.isEmpty }
        try observed.connection.write { connection in
            notes[0].score = 10
            #expect(notes.sum(\.score) == 15)
            try connection.add(Note(id: 7, score: 100))
            #expect(notes.sum(\.score) == 115 && notes.max(\.score) == 100)
        }
        #expect(notes.knownSummary(2) == nil && notes.sum(\.score) == 115)
        try observed.connection.refresh()
        #expect(notes.knownSummary(2) != nil && notes.sum(\.score) == 115)
        // After an own write, properties are those of its version, including earlier commits of other connections.
        try observed.test.store.write { try $0.object(Note.self, forPrimaryKey: 1)!.score = 1_000 }
        try observed.connection.write { _ in #expect(notes.sum(\.score) == 1_113) }
        #expect(notes[1].score == 1_000 && notes.sum(\.score) == 1_113)
    }

    @Test("are not kept for properties that the observers do not observe")
    func otherKeyPaths() throws {
        let observed = try ObservedNotes([1, 2, 3])
        let notes = try observed.notes
        try observed.observe(notes, keyPaths: [\.tag])
        try observed.observe(notes.where(\.score > 1000))
        #expect(notes.sum(\.score) == 6 && notes.sum(\.weight) == 0)
        for step in 0..<20 {
            // The score is not observed by the first query. The new row is an update of both.
            try observed.write { connection in
                try connection.object(Note.self, forPrimaryKey: 1)!.score = step
                try connection.add(Note(id: 10 + step, score: 2_000))
            }
            #expect(notes.sum(\.score) == 4 + step + 2_000 * (step + 1))
            #expect(notes.rows.tree.measures.isEmpty)
        }
    }

    @Test("are maintained until the last observer that reads them ends")
    func dropped() throws {
        let observed = try ObservedNotes(Array(0..<50))
        let asked = try observed.notes.where(\.score >= 10).sorted(by: \.score)
        let others = try observed.notes.where(\.score < 20).sorted(by: \.score)
        let token = try observed.observe(asked)
        try observed.observe(others)
        _ = asked.sum(\.score)
        try observed.writeUntil(others) { !$0.isEmpty }
        token.invalidate()
        try observed.writeUntil(others) { $0.isEmpty }
        #expect(others.sum(\.score) == 190)
        // Once observed again, the aggregates are maintained again.
        try observed.observe(asked)
        _ = asked.sum(\.score)
        try observed.writeUntil(asked) { !$0.isEmpty }
        #expect(asked.sum(\.score) == (10..<50).reduce(0, +))
    }
}
