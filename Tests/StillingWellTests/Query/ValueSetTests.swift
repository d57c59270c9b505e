// Tests of conditions with many values of one column: `in`, equalities joined by `||`, and equalities of bytes.
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

private final class Mixed: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored var number = 0
    @Stored var optionalNumber: Int? = nil
    @Stored(.indexed) var indexed = 0
    @Stored var ratio: Double? = nil
    @Stored var isDone = false
    @Stored var title = ""
    @Stored var note: String? = nil
    @Stored var image = Data()
    @Stored var day: Date? = nil
    @Stored var token = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}

@Suite("Conditions with many values")
struct ValueSetTests {
    private static let numbers = [Int.min, .min + 1, -1, 0, 1, 2, 3, 1 << 32, .max - 1, .max]
    private static let ratios: [Double] = [
        -.infinity, -1, -0.0, 0, 0.1, 1, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, .nan, -.nan,
    ]
    /// The first two look alike, and have other bytes. Queries compare bytes.
    private static let texts = [
        "é", "e\u{301}", "", "a", "b", "aaaaaaaa", "aaaaaaab", "aaaaaaaaa", "Привет", "日本語",
        String(repeating: "long ", count: 2_000), String(repeating: "long ", count: 2_000) + "!",
    ]
    private static let uuids = (0..<4).map { UUID(uuid: ($0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) }

    private static func some<Value>(_ pool: [Value], _ random: inout SeededRandom) -> [Value] {
        (0..<random.below(2 * pool.count)).map { _ in pool[random.below(pool.count)] }
    }

    /// Returns whether texts are equal in queries: by their bytes.
    private static func isSame(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

    @Test("pass the same rows as a loop over the values", arguments: 0..<8)
    func same(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore([Mixed.self], durability: round % 2 == 0 ? .memory : .relaxed)
        try test.store.write { connection in
            for key in 0..<300 {
                let row = Mixed()
                row.key = key
                row.number = Self.numbers[random.below(Self.numbers.count)]
                row.optionalNumber = random.oneIn(4) ? nil : Self.numbers[random.below(Self.numbers.count)]
                row.indexed = Self.numbers[random.below(Self.numbers.count)]
                row.ratio = random.oneIn(4) ? nil : Self.ratios[random.below(Self.ratios.count)]
                row.isDone = random.oneIn(2)
                row.title = Self.texts[random.below(Self.texts.count)]
                row.note = random.oneIn(4) ? nil : Self.texts[random.below(Self.texts.count)]
                row.image = Data(Self.texts[random.below(Self.texts.count)].utf8)
                row.day = random.oneIn(4) ? nil : Date(timeIntervalSinceReferenceDate: Double(random.below(5)))
                row.token = Self.uuids[random.below(Self.uuids.count)]
                try connection.add(row)
            }
        }
        try test.store.read { connection in
            let rows = Array(try connection.objects(Mixed.self))
            func check(_ name: String, _ filter: Filter<Mixed>, _ passes: (Mixed) -> Bool) throws {
                let comment: Comment = "\(name), TIDEGAUGE_SEED=\(seed)"
                let expected = rows.filter(passes).map(\.key)
                let results = try connection.objects(Mixed.self).where(filter)
                #expect(results.count == expected.count, comment)
                #expect(results.map(\.key) == expected, comment)
                let negated = try connection.objects(Mixed.self).where(!filter)
                #expect(negated.count == rows.count - expected.count, comment)
                // The same beside another condition.
                let both = try connection.objects(Mixed.self).where(filter && \.key >= 100)
                #expect(both.map(\.key) == expected.filter { $0 >= 100 }, comment)
            }
            for _ in 0..<12 {
                let numbers = Self.some(Self.numbers, &random)
                try check("Int", (\Mixed.number).in(numbers)) { numbers.contains($0.number) }
                try check("indexed Int", (\Mixed.indexed).in(numbers)) { numbers.contains($0.indexed) }
                let optionals = Self.some(Self.numbers + [nil, nil], &random)
                try check("Int?", (\Mixed.optionalNumber).in(optionals)) {
                    optionals.contains($0.optionalNumber)
                }
                let ratios = Self.some(Self.ratios + [nil], &random)
                try check("Double?", (\Mixed.ratio).in(ratios)) { ratios.contains($0.ratio) }
                let flags = Self.some([true, false], &random)
                try check("Bool", (\Mixed.isDone).in(flags)) { flags.contains($0.isDone) }
                let texts = Self.some(Self.texts, &random)
                try check("String", (\Mixed.title).in(texts)) { row in
                    texts.contains { Self.isSame($0, row.title) }
                }
                let notes = Self.some(Self.texts + [nil], &random)
                try check("String?", (\Mixed.note).in(notes)) { row in
                    notes.contains { note in
                        if let note, let own = row.note {
                            Self.isSame(note, own)
                        } else {
                            note == nil && row.note == nil
                        }
                    }
                }
                let images = Self.some(Self.texts, &random).map { Data($0.utf8) }
                try check("Data", (\Mixed.image).in(images)) { images.contains($0.image) }
                let days = Self.some((0..<7).map { Date(timeIntervalSinceReferenceDate: Double($0)) } + [nil], &random)
                try check("Date?", (\Mixed.day).in(days)) { days.contains($0.day) }
                let tokens = Self.some(Self.uuids, &random)
                try check("UUID", (\Mixed.token).in(tokens)) { tokens.contains($0.token) }

                let (text, other) = (Self.texts[random.below(12)], Self.texts[random.below(12)])
                try check("String ==", \.title == text) { Self.isSame($0.title, text) }
                try check("String? ==", \.note == text) { $0.note.map { Self.isSame($0, text) } ?? false }
                try check("String != ", \.title != text) { !Self.isSame($0.title, text) }
                try check("String or", \.title == text || \.title == other || \.isDone == true) {
                    Self.isSame($0.title, text) || Self.isSame($0.title, other) || $0.isDone
                }
                if numbers.count >= 3 {
                    let (a, b, c) = (numbers[0], numbers[1], numbers[2])
                    try check("Int or", \.number == a || \.indexed == b || \.number == b || \.number == c) {
                        $0.number == a || $0.indexed == b || $0.number == b || $0.number == c
                    }
                    try check(
                        "Int or in", (\Mixed.number).in([a, b]) || \.number == c || \.optionalNumber == nil
                    ) {
                        [a, b, c].contains($0.number) || $0.optionalNumber == nil
                    }
                }
            }
        }
    }

    @Test("joined by `or` are one list of each column")
    func joined() {
        func equal(_ column: Int, _ value: Int) -> FilterExpression {
            .compare(column: column, .equal, .int(value), isOptional: false)
        }
        let other = FilterExpression.compare(column: 1, .less, .int(5), isOptional: false)
        let filter = FilterExpression.or([equal(1, 1), other, equal(2, 7), equal(1, 2), equal(1, 1), equal(1, 3)])
        let expected = FilterExpression.or([
            .column(1, .oneOf(ValueSet([.int(1), .int(2), .int(3)])), isOptional: false), other, equal(2, 7),
        ])
        #expect(filter.normalized == expected)
        #expect(FilterExpression.or([equal(1, 1), equal(2, 1)]).normalized == .or([equal(1, 1), equal(2, 1)]))
    }
}
