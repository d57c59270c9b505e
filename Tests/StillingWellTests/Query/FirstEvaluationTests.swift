// Tests of first evaluations of many queries at once.
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellTree

@Suite("First evaluation")
struct FirstEvaluationTests {
    private struct Asked {
        let filter: Filter<Note>
        let sort: SortKey<Note>?
        let expected: [Int]
    }

    /// Returns a random filter and order, with the keys of the notes that it finds.
    private static func ask(_ notes: [(key: Int, score: Int, title: String)], _ random: inout SeededRandom) -> Asked {
        let bound = random.below(60)
        let isUpper = random.oneIn(2)
        let found = notes.filter { isUpper ? $0.score < bound : $0.score >= bound }
        let filter: Filter<Note> = isUpper ? \.score < bound : \.score >= bound
        switch random.below(4) {
        case 0: return Asked(filter: filter, sort: nil, expected: found.map(\.key))
        case 1:
            // Notes are made in the order of their keys, which breaks ties.
            let sorted = found.sorted { ($0.score, $0.key) < ($1.score, $1.key) }
            return Asked(filter: filter && \.id >= 0, sort: SortKey(\.score), expected: sorted.map(\.key))
        case 2:
            let sorted = found.sorted { (-$0.score, $0.key) < (-$1.score, $1.key) }
            return Asked(filter: filter, sort: SortKey(\.score, ascending: false), expected: sorted.map(\.key))
        default:
            let sorted = found.sorted { ($0.title, $0.key) < ($1.title, $1.key) }
            return Asked(filter: filter, sort: SortKey(\.title), expected: sorted.map(\.key))
        }
    }

    @Test("queries that are evaluated together find what each finds alone, in its order", arguments: 0..<12)
    func together(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore(durability: .memory)
        let notes = (0..<50 + random.below(600)).map { key in
            (key: key, score: random.below(60), title: "\(random.below(300))")
        }
        try test.store.write { connection in
            for note in notes { try connection.add(Note(id: note.key, score: note.score, title: note.title)) }
        }
        let storage = test.store.core.storage
        let table = try storage.table(of: Note.self)
        // A few queries are each tested against every row, and many are looked up.
        let asked = (0..<(random.oneIn(2) ? 2 + random.below(6) : 9 + random.below(30))).map { _ in
            Self.ask(notes, &random)
        }
        let plans = asked.map { ask in
            QueryPlan(table: table, filter: ask.filter.expression, sort: ask.sort.map { [$0.term] } ?? [])
        }
        let snapshot = try storage.openSnapshot()
        let trees = try FirstEvaluation.evaluate(plans.map { ($0.tree, table) }, in: snapshot)
        for (number, tree) in trees.enumerated() {
            let keys = tree.slice(plans[number].window).ids.map { id in
                snapshot.row(table, ObjectID(rawValue: id)).map { Int._read($0, table.schema.primaryKey!) }
            }
            #expect(keys == asked[number].expected, "TIDEGAUGE_SEED=\(seed), query \(number)")
            #expect(tree.entries.allSatisfy { $0.stamp == snapshot.version }, "TIDEGAUGE_SEED=\(seed)")
        }
    }

    @Test("queries that are dropped while others are evaluated with them change nothing for these", arguments: 0..<12)
    func dropped(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore(durability: .memory)
        let notes = (0..<4_000).map { key in (key: key, score: random.below(60), title: "\(random.below(300))") }
        try test.store.write { connection in
            for note in notes { try connection.add(Note(id: note.key, score: note.score, title: note.title)) }
        }
        let storage = test.store.core.storage
        let table = try storage.table(of: Note.self)
        let asked = (0..<(random.oneIn(2) ? 2 + random.below(6) : 9 + random.below(30))).map { _ in
            Self.ask(notes, &random)
        }
        let plans = asked.map { ask in
            QueryPlan(table: table, filter: ask.filter.expression, sort: ask.sort.map { [$0.term] } ?? [])
        }
        let snapshot = try storage.openSnapshot()
        // At each pause, more queries may be dropped.
        var dropped: Set<Int> = []
        let odds = 1 + random.below(12)
        let trees = try FirstEvaluation.scan(
            plans.map { ($0.tree, table) }, in: snapshot, isDropped: { dropped.contains($0) }
        ) {
            for number in plans.indices where random.oneIn(odds) { dropped.insert(number) }
        }
        #expect(trees.count == plans.count)
        for (number, tree) in trees.enumerated() {
            guard let tree else {
                #expect(dropped.contains(number), "TIDEGAUGE_SEED=\(seed), query \(number)")
                continue
            }
            let keys = tree.slice(plans[number].window).ids.map { id in
                snapshot.row(table, ObjectID(rawValue: id)).map { Int._read($0, table.schema.primaryKey!) }
            }
            #expect(keys == asked[number].expected, "TIDEGAUGE_SEED=\(seed), query \(number)")
        }
    }
}
