// Tests of the reader of stored schemas, compared with `JSONDecoder`.
import Foundation
import StillingWellBasis
import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Reading the stored schema")
struct SchemaReaderTests {
    private static let names = [
        "", "a", "Kind", "Doc.tags", "Kind#3", "naïve", "имя", "😀", "\"", "\\", "a/b", "\n", "\t\r\u{8}\u{c}",
        "\u{1}", "\u{7f}", "\u{2028}", "null",
    ]
    private static let types: [ColumnType] = [.int, .double, .bool, .string, .date, .data, .uuid, .link, .list]
    private static let pieces = Array(#"{}[]":,\u0dnt 19-.eé"#.utf8)

    private static func schema(_ random: inout SeededRandom) -> StoreSchema {
        func maybe<Value>(_ value: Value) -> Value? { random.oneIn(2) ? nil : value }
        var schema = StoreSchema(
            format: random.below(7), version: maybe(random.next()), tables: [],
            nextTable: maybe(UInt32.max - UInt32(random.below(9))))
        for _ in 0..<random.below(4) {
            let columns = (0..<random.below(5)).map { _ in
                var column = ColumnSchema(
                    name: random.one(of: names), type: random.one(of: types), isOptional: random.oneIn(2),
                    target: maybe(random.one(of: names)), isIndexed: random.oneIn(2))
                column.isHidden = maybe(random.oneIn(2))
                return column
            }
            schema.tables.append(
                TableSchema(
                    id: UInt32(random.below(1 << 32)), name: random.one(of: names) + random.one(of: names),
                    columns: columns, primaryKey: maybe(random.below(70))))
        }
        return schema
    }

    private static func changed(_ json: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var json = json
        for _ in 0...random.below(2) {
            let (a, b) = (random.below(json.count), random.below(json.count))
            let part = Array(json[min(a, b)..<max(a, b)])
            switch random.below(5) {
            case 0: json[a] = UInt8(random.below(256))
            case 1: json.insert(random.one(of: pieces), at: a)
            case 2: json[a] = random.one(of: pieces)
            case 3: json.insert(contentsOf: part, at: random.below(json.count))
            default: if part.count < json.count { json.removeSubrange(min(a, b)..<max(a, b)) }
            }
        }
        return json
    }

    private static func isSame(_ a: StoreSchema, _ b: StoreSchema) -> Bool {
        a.format == b.format && a.version == b.version && a.nextTable == b.nextTable && a.tables == b.tables
    }

    @Test("is read as JSONDecoder reads it; changed bytes are refused or read alike", arguments: 0..<8)
    func same(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        for _ in 0..<150 {
            let schema = Self.schema(&random)
            let encoder = JSONEncoder()
            if random.oneIn(2) { encoder.outputFormatting.insert(.sortedKeys) }
            if random.oneIn(4) { encoder.outputFormatting.insert(.prettyPrinted) }
            if random.oneIn(4) { encoder.outputFormatting.insert(.withoutEscapingSlashes) }
            let json = try Array(encoder.encode(schema))
            let read = try json.withUnsafeBytes { try StoreSchema(json: $0) }
            let text = String(decoding: json, as: UTF8.self)
            #expect(Self.isSame(read, schema), "TIDEGAUGE_SEED=\(seed): \(text)")
            #expect(try json.withUnsafeBytes { try StoreSchema.format(of: $0) } == schema.format)
            for _ in 0..<6 {
                let other = Self.changed(json, &random)
                guard let read = other.withUnsafeBytes({ try? StoreSchema(json: $0) }) else { continue }
                let decoded = try? JSONDecoder().decode(StoreSchema.self, from: Data(other))
                #expect(
                    decoded.map { Self.isSame($0, read) } == true,
                    "TIDEGAUGE_SEED=\(seed): \(String(decoding: other, as: UTF8.self))")
            }
        }
    }

    @Test(
        "names the place of an error",
        arguments: [
            (#"{"format":5}"#, "byte 12: expected tables before it"),
            (#"{"format":-5}"#, "byte 10: expected a whole number"),
            (#"{"format":05}"#, "byte 12: expected a whole number"),
            (#"{"format":5,"tables":[}"#, "byte 22: expected a map"),
            (#"{"format":5,"format":5}"#, "byte 21: expected no key twice"),
            (#"{"format":5,"tables":[]} x"#, "byte 25: expected the end"),
            (#"{"format":5,"tables":[{"id":1,"name":"\q"}]}"#, "byte 38: expected a text with escapes of JSON"),
            ("", "byte 0: expected a map"),
            (#"{"format":5,"nextTable":4294967296}"#, "byte 34: expected a number of at most 32 bits"),
            ("{\"a\tb\":5}", "byte 3: expected no control character"),
        ])
    func place(_ json: String, _ expected: String) {
        let error = #expect(throws: JSONScanner.Problem.self) {
            try Array(json.utf8).withUnsafeBytes { _ = try StoreSchema(json: $0) }
        }
        #expect(error?.description == expected)
    }

    @Test("keys that are not known are read over, and the format is read in any form of the rest")
    func unknown() throws {
        let json = #"{"tables":[],"later":{"a":[1,null,{"b":"\""},-1,0.5e-3],"c":true},"format":5}"#
        #expect(try Array(json.utf8).withUnsafeBytes { try StoreSchema(json: $0) }.format == 5)
        let newer = #"{"format":9,"tables":"other"}"#
        #expect(try Array(newer.utf8).withUnsafeBytes { try StoreSchema.format(of: $0) } == 9)
    }
}
