// Tests of the columns in which two rows differ.
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

private final class Every: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored var number = 0
    @Stored var optional: Int? = nil
    @Stored var ratio = 0.0
    @Stored var share: Double? = nil
    @Stored var isDone: Bool? = nil
    @Stored var title = ""
    @Stored var note: String? = nil
    @Stored var image = Data()
    @Stored var day: Date? = nil
    @Stored var token: UUID? = nil
}

@Suite("Rows that are compared")
struct SameBytesTests {
    private static let numbers = [Int.min, -1, 0, 1, .max]
    private static let ratios: [Double] = [-0.0, 0, 1, .infinity, .nan, -.nan, .leastNonzeroMagnitude]
    /// The first two look alike. Texts above 1 KiB are stored apart.
    private static let texts = [
        "é", "e\u{301}", "", "a", "b", "日本語", String(repeating: "long ", count: 500),
        String(repeating: "long ", count: 499) + "lonG ",
    ]

    private static func make(_ key: Int, _ random: inout SeededRandom) -> Every {
        func some<Value>(_ values: [Value]) -> Value { values[random.below(values.count)] }
        func maybe<Value>(_ values: [Value]) -> Value? { random.oneIn(4) ? nil : some(values) }
        let row = Every()
        row.key = key
        row.number = some(numbers)
        row.optional = maybe(numbers)
        row.ratio = some(ratios)
        row.share = maybe(ratios)
        row.isDone = maybe([true, false])
        row.title = some(texts)
        row.note = maybe(texts)
        row.image = Data(some(texts).utf8)
        row.day = maybe([-0.0, 0, 1]).map { Date(timeIntervalSinceReferenceDate: $0) }
        row.token = maybe((0..<2).map { UUID(uuid: ($0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) })
        return row
    }

    @Test("differ where their values differ; an update writes these columns", arguments: 0..<8)
    func same(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        let comment: Comment = "TIDEGAUGE_SEED=\(seed)"
        var random = SeededRandom(seed: seed)
        let test = try TestStore([Every.self], durability: round % 2 == 0 ? .memory : .relaxed)
        let keys = 60
        let schema = try test.store.core.storage.table(of: Every.self).schema
        for _ in 0..<4 {
            let made = (0..<keys).map { Self.make($0, &random) }
            try test.store.write { connection in
                let transaction = try #require(connection.transaction)
                let table = try test.store.core.storage.table(of: Every.self)
                for object in made {
                    let wanted = RowBuffer()
                    table.layout.encode(object, into: wanted)
                    let start = transaction.entries.count
                    var expected: UInt64?
                    if let stored = try connection.object(Every.self, forPrimaryKey: object.key),
                        let row = transaction.row(table, try #require(stored.objectID))
                    {
                        expected = 0
                        for (column, type) in schema.columns.enumerated()
                        where wanted.reader.value(column, type) != row.value(column, type) {
                            expected! |= 1 << UInt64(column)
                        }
                        #expect(wanted.reader.columns(differingFrom: row, schema) == expected, comment)
                    }
                    let key = object.key
                    try connection.add(object, update: .modified)
                    let logged = transaction.entries[start...]
                    #expect(logged.reduce(0) { $0 | $1.columns } == expected ?? .max, comment)
                    let after = try #require(try connection.object(Every.self, forPrimaryKey: key)?.objectID)
                    let row = try #require(transaction.row(table, after))
                    #expect(wanted.reader.columns(differingFrom: row, schema) == 0, comment)
                }
            }
            #expect(try test.store.verify().isWhole, comment)
        }
    }
}
