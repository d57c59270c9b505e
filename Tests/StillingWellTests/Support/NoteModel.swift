// Expected content of a store of notes as plain values, and expected query results by filtering and sorting them.
import Foundation
import StillingWell
import StillingWellSeededRandom

/// One note as a value.
struct NoteValue: Sendable, Equatable {
    var key: Int
    /// Order of creation, which is also the order of object ids.
    var birth: Int
    var score: Int
    var weight: Double
    var done: Bool
    var title: String
    var due: Date?
    var group: Int?
    var mood: Mood?
    /// The version that last wrote the row.
    var version: UInt64
}

/// A query for the store and for the model.
struct NoteQuery: Sendable {
    var name: String
    var live: @Sendable (Results<Note>) -> Results<Note>
    var passes: @Sendable (NoteValue) -> Bool
    /// Whether the first note precedes the second. nil if they tie, which `birth` then breaks.
    var precedes: @Sendable (NoteValue, NoteValue) -> Bool?
    /// Selects rows from the ordered ones.
    var shape: @Sendable ([NoteValue]) -> [NoteValue] = { $0 }

    func evaluate(_ notes: [Int: NoteValue]) -> [NoteValue] {
        shape(notes.values.filter(passes).sorted { precedes($0, $1) ?? ($0.birth < $1.birth) })
    }

    /// Compares by the first key that differs.
    static func order(_ comparisons: [Int]) -> Bool? { comparisons.first { $0 != 0 }.map { $0 < 0 } }

    static func compare<Key: Comparable>(_ a: Key, _ b: Key) -> Int { a < b ? -1 : (a == b ? 0 : 1) }

    static func compare<Key: Comparable>(_ a: Key?, _ b: Key?) -> Int {
        switch (a, b) {
        case (nil, nil): 0
        case (nil, _): -1
        case (_, nil): 1
        case (let a?, let b?): compare(a, b)
        }
    }

    static func bytes(_ string: String) -> [UInt8] { Array(string.utf8) }

    static func compare(_ a: String, _ b: String) -> Int {
        bytes(a) == bytes(b) ? 0 : (bytes(a).lexicographicallyPrecedes(bytes(b)) ? -1 : 1)
    }

    static let all = plain + derived + text

    static let plain: [NoteQuery] = [
        NoteQuery(name: "everything", live: { $0 }, passes: { _ in true }, precedes: { _, _ in nil }),
        NoteQuery(
            name: "score >= 50, by -score", live: { $0.where(\.score >= 50).sorted(by: \.score, ascending: false) },
            passes: { $0.score >= 50 }, precedes: { order([compare($1.score, $0.score)]) }),
        NoteQuery(
            name: "20 < score <= 70, by score", live: { $0.where(\.score > 20 && \.score <= 70).sorted(by: \.score) },
            passes: { $0.score > 20 && $0.score <= 70 }, precedes: { order([compare($0.score, $1.score)]) }),
        NoteQuery(
            name: "group == 2, by title, -score",
            live: { $0.where(\.group == 2).sorted(by: [SortKey(\.title), SortKey(\.score, ascending: false)]) },
            passes: { $0.group == 2 },
            precedes: { order([compare($0.title, $1.title), compare($1.score, $0.score)]) }),
        NoteQuery(
            name: "not done or heavy, by -due, weight",
            live: {
                $0.where(\.done == false || \.weight > 0.5)
                    .sorted(by: [SortKey(\.due, ascending: false), SortKey(\.weight)])
            },
            passes: { !$0.done || $0.weight > 0.5 },
            precedes: { order([compare($1.due, $0.due), compare($0.weight, $1.weight)]) }),
        NoteQuery(
            name: "group in 1, 3 and title < m, by -weight",
            live: {
                $0.where((\Note.group).in([1, 3]) && \.title < "m").sorted(by: \.weight, ascending: false)
            },
            passes: { ($0.group == 1 || $0.group == 3) && $0.title.utf8.lexicographicallyPrecedes("m".utf8) },
            precedes: { order([compare($1.weight, $0.weight)]) }),
        NoteQuery(
            name: "no group, weight < 0.3, by weight",
            live: { $0.where(\.group == nil && \.weight < 0.3).sorted(by: \.weight) },
            passes: { $0.group == nil && $0.weight < 0.3 }, precedes: { order([compare($0.weight, $1.weight)]) }),
        NoteQuery(
            name: "score != 30 and not title == a, by done, -title",
            live: {
                $0.where(\.score != 30 && !(\.title == "a")).sorted(by: [
                    SortKey(\.done), SortKey(\.title, ascending: false),
                ])
            },
            passes: { $0.score != 30 && $0.title != "a" },
            precedes: { order([compare($0.done ? 1 : 0, $1.done ? 1 : 0), compare($1.title, $0.title)]) }),
        NoteQuery(
            name: "mood glad or wild, by -mood, score",
            live: {
                $0.where(\.mood >= .glad).sorted(by: [SortKey(\.mood, ascending: false), SortKey(\.score)])
            },
            passes: { ($0.mood ?? .calm) >= .glad },
            precedes: { order([compare($1.mood, $0.mood), compare($0.score, $1.score)]) }),
    ]
}

/// The notes of a store, and random changes of the store and of these notes.
struct NoteModel: Sendable {
    private(set) var notes: [Int: NoteValue] = [:]
    private var births = 0
    private var nextKey = 0

    private static let titles =
        ["", "a", "a\0", "a\0b", "b", "über", "ümlaut", "m", "zz", "a longer title than most"]
        + largeTitles
    /// Three values that are stored apart from their rows, two of them equal except for the end, and one that is just
    /// short enough to stay in its row.
    private static let largeTitles = [
        "a" + String(repeating: "ä", count: 700), "a" + String(repeating: "ä", count: 700) + "r",
        "n" + String(repeating: "z", count: 5_000), String(repeating: "b", count: 1_024),
    ]

    /// Changes a few notes, in the transaction and in the model.
    mutating func change(_ connection: Connection, version: UInt64, _ random: inout SeededRandom) throws {
        for _ in 0..<(1 + random.below(random.oneIn(8) ? 30 : 4)) {
            switch random.below(10) {
            case 0..<3: try insert(connection, version, &random)
            case 3: try delete(connection, &random)
            default: try update(connection, version, &random)
            }
        }
    }

    private mutating func insert(_ connection: Connection, _ version: UInt64, _ random: inout SeededRandom) throws {
        // A key may be used again after its note was deleted.
        let key = random.oneIn(4) ? random.below(nextKey + 1) : nextKey
        guard notes[key] == nil else { return }
        nextKey = max(nextKey, key + 1)
        births += 1
        var value = NoteValue(
            key: key, birth: births, score: 0, weight: 0, done: false, title: "", due: nil, group: nil,
            version: version)
        let note = Note(id: key)
        // Columns are set before the note is added and after.
        Self.fill(note, &value, &random)
        try connection.add(note)
        Self.fill(note, &value, &random)
        notes[key] = value
    }

    private mutating func update(_ connection: Connection, _ version: UInt64, _ random: inout SeededRandom) throws {
        guard let key = notes.keys.sorted().randomElement(using: &random), var value = notes[key],
            let note = try connection.object(Note.self, forPrimaryKey: key)
        else { return }
        value.version = version
        Self.fill(note, &value, &random)
        notes[key] = value
    }

    private mutating func delete(_ connection: Connection, _ random: inout SeededRandom) throws {
        guard let key = notes.keys.sorted().randomElement(using: &random),
            let note = try connection.object(Note.self, forPrimaryKey: key)
        else { return }
        try connection.delete(note)
        notes[key] = nil
    }

    /// Sets the score, so that the row counts as written, and one other column.
    private static func fill(_ note: Note, _ value: inout NoteValue, _ random: inout SeededRandom) {
        if random.oneIn(2) { value.score = random.below(100) }
        note.score = value.score
        switch random.below(6) {
        case 0:
            value.title = titles[random.below(titles.count)]
            note.title = value.title
        case 1:
            value.weight = [-1.5, -0.0, 0, 0.25, 0.3, 0.75, .infinity][random.below(7)]
            note.weight = value.weight
        case 2:
            value.done.toggle()
            note.done = value.done
        case 3:
            value.due = random.oneIn(3) ? nil : Date(timeIntervalSinceReferenceDate: Double(random.below(5)) - 2)
            note.due = value.due
        case 4:
            value.group = random.oneIn(4) ? nil : random.below(4)
            note.group = value.group
        default:
            value.mood = random.oneIn(4) ? nil : Mood.allCases[random.below(3)]
            note.mood = value.mood
        }
    }
}
