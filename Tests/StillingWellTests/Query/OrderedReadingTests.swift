// Tests of the first and last rows of an order, and of the ends of an index.
import Foundation
import StillingWell
import StillingWellSeededRandom
import Testing

private final class Graded: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored(.indexed) var kind = ""
    @Stored(.indexed) var weight: Double? = nil
    @Stored(.indexed) var grade = 0
    @Stored var score = 0
    @Stored var done = false
    @Linked var parent: Graded?
}

/// A row of the model.
private struct Row {
    var key = 0
    var kind = ""
    var weight: Double?
    var grade = 0
    var score = 0
    var done = false
    var parent: Int?
}

private struct Term {
    let name: String
    let key: (Bool) -> SortKey<Graded>
    /// Compares two rows (negative, zero, positive). The third argument finds a parent by its key.
    let order: (Row, Row, [Int: Row]) -> Int
}

private struct Condition {
    let name: String
    let filter: Filter<Graded>
    let passes: (Row) -> Bool
}

private func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a > b ? 1 : 0 }

/// Orders null first, and NaN after infinity.
private func order(_ a: Double?, _ b: Double?) -> Int {
    func place(_ value: Double?) -> (Int, Double) { value.map { $0.isNaN ? (2, 0) : (1, $0) } ?? (0, 0) }
    return place(a) < place(b) ? -1 : place(a) == place(b) ? 0 : 1
}

/// The model of a store of grades, in order of creation. Changes both.
private struct Grades {
    private static let long = String(repeating: "k", count: 600)
    private static let kinds = [
        "", "a", "a\0", "b", long, long + "a", long + "b", String(repeating: "k", count: 497),
        String(repeating: "k", count: 498), String(repeating: "k", count: 499), String(repeating: "k", count: 500),
    ]
    private static let numbers: [Double?] = [nil, -.infinity, -1, -0.0, 0, 0.5, .infinity]

    private static var terms: [Term] {
        [
            Term(name: "key", key: { SortKey(\.key, ascending: $0) }) { a, b, _ in order(a.key, b.key) },
            Term(name: "kind", key: { SortKey(\.kind, ascending: $0) }) { a, b, _ in
                a.kind == b.kind ? 0 : a.kind.utf8.lexicographicallyPrecedes(b.kind.utf8) ? -1 : 1
            },
            Term(name: "weight", key: { SortKey(\.weight, ascending: $0) }) { a, b, _ in order(a.weight, b.weight) },
            Term(name: "grade", key: { SortKey(\.grade, ascending: $0) }) { a, b, _ in order(a.grade, b.grade) },
            Term(name: "score", key: { SortKey(\.score, ascending: $0) }) { a, b, _ in order(a.score, b.score) },
            Term(name: "parent's grade", key: { SortKey(\.parent?.grade, ascending: $0) }) { a, b, rows in
                func grade(_ row: Row) -> Int { row.parent.flatMap { rows[$0]?.grade } ?? .min }
                return order(grade(a), grade(b))
            },
        ]
    }

    var random: SeededRandom
    /// Values of `weight`, with or without NaN.
    let weights: [Double?]
    var model: [Row] = []

    init(random: SeededRandom, hasNaN: Bool) {
        self.random = random
        weights = Self.numbers + (hasNaN ? [.nan, -.nan] : [])
    }

    mutating func change(_ connection: Connection) throws {
        let key = random.below(60) - 20
        let place = model.firstIndex { $0.key == key }
        let known = try connection.object(Graded.self, forPrimaryKey: key)
        if let place, let known, random.oneIn(4) {
            model.remove(at: place)
            for other in model.indices where model[other].parent == key { model[other].parent = nil }
            return try connection.delete(known)
        }
        var row = place.map { model[$0] } ?? Row(key: key)
        row.kind = Self.kinds[random.below(Self.kinds.count)]
        row.weight = weights[random.below(weights.count)]
        row.grade = random.below(3)
        row.score = random.below(20)
        row.done = random.oneIn(2)
        let parent = random.oneIn(3) ? nil : model.isEmpty ? nil : model[random.below(model.count)].key
        row.parent = parent
        let graded = known ?? Graded()
        if known == nil { graded.key = key }
        (graded.kind, graded.weight, graded.grade) = (row.kind, row.weight, row.grade)
        (graded.score, graded.done) = (row.score, row.done)
        graded.parent = try parent.flatMap { try connection.object(Graded.self, forPrimaryKey: $0) }
        if let place { model[place] = row } else { model.append(row) }
        if known == nil { try connection.add(graded) }
    }

    private mutating func condition() -> Condition {
        let (low, high) = (random.below(30) - 20, random.below(40))
        let kind = Self.kinds[random.below(Self.kinds.count)]
        let grade = random.below(3)
        let conditions = [
            Condition(name: "all", filter: .all) { _ in true },
            Condition(name: "none", filter: (\Graded.key).in([])) { _ in false },
            Condition(name: "keys", filter: \.key >= low && \.key < high) { low <= $0.key && $0.key < high },
            Condition(name: "kind >=", filter: \.kind >= kind) {
                !$0.kind.utf8.lexicographicallyPrecedes(kind.utf8)
            },
            Condition(name: "kind <=", filter: \.kind <= kind) {
                !kind.utf8.lexicographicallyPrecedes($0.kind.utf8)
            },
            Condition(name: "kind begins", filter: (\Graded.kind).hasPrefix("kkk")) { $0.kind.hasPrefix("kkk") },
            Condition(name: "grade ==", filter: \.grade == grade) { $0.grade == grade },
            Condition(name: "grade and flag", filter: \.grade <= grade && \.done == true) {
                $0.grade <= grade && $0.done
            },
            Condition(name: "weight <", filter: \.weight < 0.5) { $0.weight.map { $0 < 0.5 } ?? false },
            Condition(name: "weight ==", filter: \.weight == nil) { $0.weight == nil },
            Condition(name: "flag", filter: \.done == true) { $0.done },
            Condition(name: "score", filter: \.score > 10) { $0.score > 10 },
        ]
        return conditions[random.below(conditions.count)]
    }

    /// Checks many queries. Each uses new results, because one query may leave data that the next one uses.
    mutating func check(_ connection: Connection, _ rows: [Row], _ place: String, _ seed: UInt64) throws {
        let byKey = Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0) })
        for _ in 0..<24 {
            let condition = condition()
            var terms: [(term: Term, ascending: Bool)] = []
            for _ in 0..<random.below(3) {
                let term = Self.terms[random.below(Self.terms.count)]
                if !terms.contains(where: { $0.term.name == term.name }) { terms.append((term, random.oneIn(2))) }
            }
            let expected = rows.enumerated().filter { condition.passes($0.element) }.sorted { a, b in
                for (term, ascending) in terms {
                    let order = term.order(a.element, b.element, byKey)
                    if order != 0 { return ascending ? order < 0 : order > 0 }
                }
                return a.offset < b.offset
            }.map(\.element)
            let keys = terms.map { $0.term.key($0.ascending) }
            let words = terms.map { "\($0.term.name) \($0.ascending ? "up" : "down")" }
            let comment: Comment = "\(condition.name) by \(words), \(place), TIDEGAUGE_SEED=\(seed)"
            func results() throws -> Results<Graded> {
                try connection.objects(Graded.self).where(condition.filter).sorted(by: keys)
            }
            try compare(results, expected, comment)
        }
    }

    private mutating func compare(
        _ results: () throws -> Results<Graded>, _ expected: [Row], _ comment: Comment
    ) throws {
        let most = random.below(8)
        let first = Array(expected.prefix(most))
        #expect(try results().first?.key == expected.first?.key, comment)
        #expect(try results().last?.key == expected.last?.key, comment)
        #expect(try results().prefix(most).map(\.key) == first.map(\.key), comment)
        #expect(try results().prefix(most).count == first.count, comment)
        #expect(try results().limited(to: most).map(\.key) == first.map(\.key), comment)
        #expect(try results().limited(to: most).objectIDs.count == first.count, comment)
        #expect(try results().limited(to: most).last?.key == first.last?.key, comment)
        let asked = try results()
        for _ in 0..<5 where !expected.isEmpty {
            let index = random.below(expected.count)
            #expect(asked[index].key == expected[index].key, comment)
        }
        if random.oneIn(2) { #expect(asked.first?.key == expected.first?.key, comment) }
        if random.oneIn(2) { #expect(asked.map(\.key) == expected.map(\.key), comment) }
        #expect(asked.count == expected.count, comment)
        let weights = expected.compactMap(\.weight).filter { !$0.isNaN }
        #expect(try results().min(\.weight) == weights.min(), comment)
        #expect(try results().max(\.weight) == weights.max(), comment)
        #expect(try results().min(\.grade) == expected.map(\.grade).min(), comment)
        #expect(try results().max(\.key) == expected.map(\.key).max(), comment)
    }
}

@Suite("The ends of an order, without a tree")
struct OrderedReadingTests {
    @Test("are those of all rows sorted", arguments: 0..<6)
    func same(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        let test = try TestStore([Graded.self], durability: .memory)
        let live = try test.store.connect(on: .scheduler(ManualScheduler()))
        var grades = Grades(random: SeededRandom(seed: seed), hasNaN: round % 2 == 0)
        for _ in 0..<4 {
            try test.store.write { connection in
                for _ in 0..<25 { try grades.change(connection) }
                try grades.check(connection, grades.model, "in a write", seed)
                let kept = try connection.objects(Graded.self).sorted(by: \.key)
                let asked = (kept.first?.key, kept.prefix(5).map(\.key), kept[0].key, kept.last?.key)
                #expect(asked.0 == asked.2 && asked.0 == grades.model.map(\.key).min())
                for _ in 0..<3 { try grades.change(connection) }
                let keys = grades.model.map(\.key).sorted()
                #expect(kept.first?.key == keys.first && kept[0].key == keys[0] && kept.last?.key == keys.last)
                #expect(kept.prefix(5).map(\.key) == Array(keys.prefix(5)), "kept, TIDEGAUGE_SEED=\(seed)")
                try grades.check(connection, grades.model, "later in a write", seed)
            }
            try test.store.read { try grades.check($0, grades.model, "in a read", seed) }
            while try live.refresh() {}
            let delivered = grades.model
            try grades.check(live, delivered, "live", seed)
            try test.store.write { for _ in 0..<5 { try grades.change($0) } }
            try grades.check(live, delivered, "live, not delivered", seed)
            while try live.refresh() {}
            try live.write {
                for _ in 0..<5 { try grades.change(live) }
                try grades.check(live, grades.model, "in an own write", seed)
            }
            try grades.check(live, grades.model, "behind an own write", seed)
        }
    }

    /// Makes so many rows that following an index may cost more than a scan.
    @Test("the ends are found if the path along the index is long")
    func long() throws {
        let test = try TestStore([Graded.self], durability: .memory)
        try test.store.write { connection in
            for key in 0..<3_000 {
                let row = Graded()
                (row.key, row.grade, row.score, row.done) = (key * 7_919 % 3_000, key % 2, key % 100, key % 1_500 == 7)
                row.kind = String(repeating: "k", count: key % 2 * 600) + "\(key % 3)"
                try connection.add(row)
            }
        }
        try test.store.read { connection in
            let all = try connection.objects(Graded.self)
            let rare = all.where(\.done == true)
            #expect(rare.sorted(by: \.key).prefix(3).map(\.key) == [1_433, 2_933].sorted())
            #expect(rare.sorted(by: \.key, ascending: false).first?.key == 2_933)
            #expect(rare.sorted(by: \.key).last?.key == 2_933)
            #expect(rare.last?.score == 7 && rare.max(\.key) == 2_933)
            #expect(all.sorted(by: \.grade).last?.key == 2_999 * 7_919 % 3_000)
            #expect(all.sorted(by: \.grade, ascending: false).first?.key == 7_919 % 3_000)
            #expect(all.sorted(by: \.kind, ascending: false).first?.kind.hasSuffix("k2") == true)
            #expect(all.sorted(by: \.score)[1_023].score == 34 && all.sorted(by: \.score)[1_024].score == 34)
            #expect(all.sorted(by: \.key)[2_000].key == 2_000)
        }
    }

    @Test("are found anew after each write and each delivery")
    func anew() throws {
        let test = try TestStore([Graded.self], durability: .memory)
        func raise(_ key: Int, to score: Int, _ connection: Connection) throws {
            try connection.object(Graded.self, forPrimaryKey: key)?.score = score
        }
        func best(_ connection: Connection) throws -> Results<Graded> {
            try connection.objects(Graded.self).sorted(by: \.score, ascending: false)
        }
        try test.store.write { connection in
            for key in 0..<5 {
                let row = Graded()
                (row.key, row.score) = (key, key)
                try connection.add(row)
            }
            let best = try best(connection)
            #expect(best.prefix(2).map(\.key) == [4, 3])
            try raise(0, to: 9, connection)
            #expect(best.prefix(2).map(\.key) == [0, 4] && best[0].key == 0)
        }
        let feed = try Feed(test.store)
        let shown = try best(feed.connection)
        #expect(shown.prefix(2).map(\.key) == [0, 4])
        try test.store.write { try raise(1, to: 10, $0) }
        #expect(shown.prefix(2).map(\.key) == [0, 4])
        try feed.catchUp()
        #expect(shown.prefix(2).map(\.key) == [1, 0] && shown[0].key == 1)
        try feed.connection.write { try raise(2, to: 11, feed.connection) }
        #expect(shown.prefix(2).map(\.key) == [2, 1])
        try feed.connection.write { try raise(3, to: 12, feed.connection) }
        #expect(shown.prefix(2).map(\.key) == [3, 2] && shown[0].key == 3)
    }
}
