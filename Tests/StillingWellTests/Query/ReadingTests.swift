// Tests of answers without a tree: counts, sums, extremes, first rows, and rows in order of their ids.
import Foundation
import StillingWell
import StillingWellSeededRandom
import Testing

private protocol Part: StoredObject {
    associatedtype Key: StorableValue & Comparable & Hashable
    var key: Key { get set }
    var score: Int { get set }
    var weight: Double? { get set }
    var kind: String { get set }
    var done: Bool { get set }

    static var keyPath: KeyPath<Self, Key> { get }
    /// A few keys, so that they repeat.
    static var keys: [Key] { get }
}

private final class NumberedPart: StoredObject, Part {
    @Stored(.primaryKey) var key = 0
    @Stored var score = 0
    @Stored(.indexed) var weight: Double? = nil
    @Stored(.indexed) var kind = ""
    @Stored var done = false

    static var keyPath: KeyPath<NumberedPart, Int> { \.key }
    static let keys = [.min, .min + 1, .max - 1, .max] + Array(-12..<40)
}

private final class NamedPart: StoredObject, Part {
    @Stored(.primaryKey) var key = ""
    @Stored var score = 0
    @Stored(.indexed) var weight: Double? = nil
    @Stored(.indexed) var kind = ""
    @Stored var done = false

    static var keyPath: KeyPath<NamedPart, String> { \.key }
    static let keys = ["", "\0", "\0a", "a", "a\0", "ab", "b"] + (0..<40).map { "name \($0)" }
}

private final class TimedPart: StoredObject, Part {
    @Stored(.primaryKey) var key = 0.0
    @Stored var score = 0
    @Stored(.indexed) var weight: Double? = nil
    @Stored(.indexed) var kind = ""
    @Stored var done = false

    static var keyPath: KeyPath<TimedPart, Double> { \.key }
    static let keys = [-.infinity, .infinity] + (-20..<30).map { Double($0) / 4 }
}

/// A row of the model that results are compared with.
private struct Row<Key: Comparable & Hashable> {
    var key: Key
    var score = 0
    var weight: Double?
    var kind = ""
    var done = false
}

private struct Question<Object: Part> {
    let name: String
    let filter: Filter<Object>
    let passes: (Row<Object.Key>) -> Bool
}

/// A store of parts and its model, in order of creation.
private struct Parts<Object: Part> {
    typealias Model = [Row<Object.Key>]

    private static var kinds: [String] { ["", "a", "a\0", "b", String(repeating: "k", count: 600)] }
    private static var weights: [Double?] { [nil, -.infinity, -1, 0, 0.5] }
    var random: SeededRandom
    var model: Model = []

    /// Adds, changes or deletes a part.
    mutating func change(_ connection: Connection) throws {
        let key = Object.keys[random.below(Object.keys.count)]
        let place = model.firstIndex { $0.key == key }
        let known = try connection.object(Object.self, forPrimaryKey: key)
        #expect((known == nil) == (place == nil))
        if let place, let known, random.oneIn(4) {
            model.remove(at: place)
            return try connection.delete(known)
        }
        var row = place.map { model[$0] } ?? Row(key: key)
        if place == nil || random.oneIn(2) { row.score = random.below(100) - 50 }
        if place == nil || random.oneIn(2) { row.weight = Self.weights[random.below(Self.weights.count)] }
        if place == nil || random.oneIn(2) { row.kind = Self.kinds[random.below(Self.kinds.count)] }
        row.done = random.oneIn(2)
        let part = known ?? Object()
        if known == nil { part.key = key }
        (part.score, part.weight, part.kind, part.done) = (row.score, row.weight, row.kind, row.done)
        if let place { model[place] = row } else { model.append(row) }
        if known == nil { try connection.add(part) }
    }

    mutating func questions() -> [Question<Object>] {
        let path = Object.keyPath
        let keys = Object.keys.sorted()
        let at = random.below(keys.count)
        let (low, high) = (keys[at], keys[Swift.min(at + random.below(6), keys.count - 1)])
        let few = [low, high, keys[random.below(keys.count)]]
        let kind = Self.kinds[random.below(Self.kinds.count)]
        let weight = Self.weights[random.below(Self.weights.count)]
        return [
            Question(name: "all", filter: .all) { _ in true },
            Question(name: "none", filter: path.in([])) { _ in false },
            Question(name: "key ==", filter: path == low) { $0.key == low },
            Question(name: "key !=", filter: path != low) { $0.key != low },
            Question(name: "key <", filter: path < low) { $0.key < low },
            Question(name: "key <=", filter: path <= low) { $0.key <= low },
            Question(name: "key >", filter: path > high) { $0.key > high },
            Question(name: "key >=", filter: path >= high) { $0.key >= high },
            Question(name: "key in", filter: path.in(few)) { few.contains($0.key) },
            Question(name: "[ )", filter: path >= low && path < high) { low <= $0.key && $0.key < high },
            Question(name: "( ]", filter: path > low && path <= high) { low < $0.key && $0.key <= high },
            Question(name: "( )", filter: path > low && path < high) { low < $0.key && $0.key < high },
            Question(name: "[ ]", filter: path >= low && path <= high) { low <= $0.key && $0.key <= high },
            Question(name: "] [", filter: path >= high && path <= low) { high <= $0.key && $0.key <= low },
            Question(name: "key and flag", filter: path <= high && \.done == true) { $0.key <= high && $0.done },
            Question(name: "index ==", filter: \.kind == kind) { $0.kind == kind },
            Question(name: "index >", filter: \.kind > kind) {
                kind.utf8.lexicographicallyPrecedes($0.kind.utf8)
            },
            Question(name: "index in", filter: (\Object.kind).in([kind, "a"])) {
                $0.kind == kind || $0.kind == "a"
            },
            Question(name: "optional index ==", filter: \.weight == weight) { $0.weight == weight },
            Question(name: "optional index <", filter: \.weight < weight) { row in
                row.weight.flatMap { a in weight.map { a < $0 } } ?? false
            },
            Question(name: "flag", filter: \.done == true) { $0.done },
            Question(name: "not flag", filter: \.done != true) { !$0.done },
            Question(name: "text", filter: (\Object.kind).contains("a")) { $0.kind.contains("a") },
            Question(name: "or", filter: path == low || \.score > 0) { $0.key == low || $0.score > 0 },
        ]
    }

    /// Checks each query once, with new results.
    mutating func check(_ connection: Connection, _ expected: Model, _ place: String, _ seed: UInt64) throws {
        for question in questions() {
            let results = try connection.objects(Object.self).where(question.filter)
            let rows = expected.filter(question.passes)
            let comment: Comment = "\(question.name), \(place), TIDEGAUGE_SEED=\(seed)"
            // Asks in varying order, because one answer may leave data that the next one uses.
            switch random.below(3) {
            case 0: #expect(results.count == rows.count, comment)
            case 1: #expect(results.map(\.key) == rows.map(\.key), comment)
            default: break
            }
            #expect(results.first?.key == rows.first?.key, comment)
            #expect(results.count == rows.count, comment)
            #expect(results.limited(to: 2).count == Swift.min(2, rows.count), comment)
            #expect(Array(results).map(\.key) == rows.map(\.key), comment)
            #expect(results.limited(to: 3).objectIDs == Array(results.objectIDs.prefix(3)), comment)
            #expect(results.sum(\.score) == rows.reduce(0) { $0 + $1.score }, comment)
            #expect(results.max(\.score) == rows.map(\.score).max(), comment)
            #expect(results.sorted(by: \.score).min(\.score) == rows.map(\.score).min(), comment)
            let weights = rows.compactMap(\.weight).filter { $0.isFinite }
            #expect(results.where(\.weight > -2.0).sum(\.weight) == weights.reduce(0, +), comment)
        }
    }
}

@Suite("Reading without a tree")
struct ReadingTests {
    @Test("finds the same rows as a test of every row", arguments: 0..<6)
    func same(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        switch round % 3 {
        case 0: try run(NumberedPart.self, seed)
        case 1: try run(NamedPart.self, seed)
        default: try run(TimedPart.self, seed)
        }
    }

    private func run<Object: Part>(_: Object.Type, _ seed: UInt64) throws {
        let test = try TestStore([Object.self], durability: .memory)
        let scheduler = ManualScheduler()
        let live = try test.store.connect(on: .scheduler(scheduler))
        var parts = Parts<Object>(random: SeededRandom(seed: seed))
        for _ in 0..<4 {
            try test.store.write { connection in
                for _ in 0..<20 { try parts.change(connection) }
                let kept = parts.questions().map { ($0, try? connection.objects(Object.self).where($0.filter)) }
                for (_, results) in kept { _ = results?.count }
                for _ in 0..<10 { try parts.change(connection) }
                for (question, results) in kept {
                    #expect(
                        results?.count == parts.model.filter(question.passes).count,
                        "\(question.name), kept, TIDEGAUGE_SEED=\(seed)")
                }
                try parts.check(connection, parts.model, "in a write", seed)
            }
            try test.store.read { try parts.check($0, parts.model, "in a read", seed) }
            while try live.refresh() {}
            let delivered = parts.model
            let first = try live.objects(Object.self)
            try parts.check(live, delivered, "live", seed)
            try test.store.write { for _ in 0..<5 { try parts.change($0) } }
            try parts.check(live, delivered, "live, not delivered", seed)
            #expect(first.count == delivered.count)
            while try live.refresh() {}
            try live.write {
                for _ in 0..<10 { try parts.change(live) }
                #expect(first.count == parts.model.count)
                try parts.check(live, parts.model, "in an own write", seed)
            }
            try parts.check(live, parts.model, "behind an own write", seed)
            #expect(first.count == parts.model.count)
            let frozen = try live.objects(Object.self).freeze()
            #expect(frozen.count == parts.model.count)
        }
    }

    @Test("an object reads the version that its connection shows, whatever it has read before")
    func kept() throws {
        struct Cancelled: Error {}
        let test = try TestStore()
        try test.store.write { for id in 0..<3 { try $0.add(Note(id: id, score: 1, title: "title 1")) } }
        let live = try test.store.connect(on: .scheduler(ManualScheduler()))
        let found = try #require(try live.object(Note.self, forPrimaryKey: 1))
        let iterated = Array(try live.objects(Note.self))[1]
        func expect(_ score: Int, _ line: Int = #line) {
            for note in [found, iterated] {
                #expect(note.score == score && note.title == "title \(score)", "line \(line)")
            }
        }
        func set(_ note: Note?, _ score: Int) {
            note?.score = score
            note?.title = "title \(score)"
        }
        expect(1)
        for score in 2..<40 {
            try test.store.write { set(try $0.object(Note.self, forPrimaryKey: 1), score) }
            expect(1)
        }
        while try live.refresh() {}
        expect(39)
        try live.write {
            expect(39)
            set(found, 40)
            expect(40)
            try live.delete(try #require(try live.object(Note.self, forPrimaryKey: 0)))
            set(iterated, 41)
            expect(41)
        }
        expect(41)
        #expect(throws: Cancelled.self) {
            try live.write {
                set(found, 42)
                expect(42)
                throw Cancelled()
            }
        }
        expect(41)
        try test.store.write { set(try $0.object(Note.self, forPrimaryKey: 1), 43) }
        expect(41)
        while try live.refresh() {}
        expect(43)
        try test.store.write { connection in
            let note = try #require(try connection.object(Note.self, forPrimaryKey: 1))
            #expect(note.score == 43)
            note.score = 44
            try connection.delete(note)
            #expect(note.score == 0 && note.isInvalidated)
        }
        expect(43)
        while try live.refresh() {}
        #expect(found.isInvalidated && found.score == 0 && iterated.score == 0)
    }
}
