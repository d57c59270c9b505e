// Fuzzes data that the store reads: rows, lists of changes and of free pages, query texts, the schema.
import CStillingWellLMDB
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing

@testable import StillingWell

@Suite("Fuzzing the store", .serialized, .onThreads)
struct StoreFuzzTests {
    /// Returns a row as it is stored.
    private static func goodRow() -> [UInt8] {
        let buffer = RowBuffer()
        buffer.reset(columnCount: 6)
        buffer.setSlot(0, 5)
        buffer.setNull(1)
        for (column, text) in [(2, "text"), (3, ""), (4, String(repeating: "long ", count: 30))] {
            Array(text.utf8).withUnsafeBytes { buffer.setBytes(column, $0) }
        }
        buffer.seal(1, 1)
        return Array(buffer.bytes)
    }

    @Test("row: nothing behind a row's bytes is read, and the result is a valid row", arguments: seeds(1))
    func row(_ seed: UInt64) throws {
        let values = NoValues()
        defer { withExtendedLifetime(values) {} }
        var fuzzer = try Fuzzer("row", seed: seed, good: [Self.goodRow()])
        try fuzzer.run(20_000) { bytes -> String in
            // The bytes are followed by unreadable memory, so a read beyond them ends the process.
            try Guarded.withBytes(bytes) { bytes in
                let row = RowReader(bytes, values.unretained)
                var lengths = 0
                for column in 0..<70 {
                    lengths += row.isNull(column) ? 0 : row.bytes(column).reduce(1) { $0 &+ Int($1 & 1) }
                }
                let buffer = RowBuffer()
                buffer.load(row, columnCount: 6, outOfLine: [2, 3, 4])
                Array("changed".utf8).withUnsafeBytes { buffer.setBytes(3, $0) }
                buffer.setNull(4, isOutOfLine: true)
                buffer.compact(columnCount: 6, outOfLine: [2, 3, 4])
                buffer.seal(1, 1)
                #expect(RowReader.isWhole(buffer.sealedBytes, 1, 1), "TIDEGAUGE_SEED=\(seed): \(Array(bytes))")
                return
                    "\(row.columnCount.bitWidth - row.columnCount.leadingZeroBitCount) \(min(lengths, 8)) \(RowReader.isWhole(bytes, 1, 1))"
            }
        }
    }

    @Test("log: the list of a version's changes is read as it was stored, or refused", arguments: seeds(1))
    func log(_ seed: UInt64) throws {
        let entries = (0..<3).map { LogEntry(table: 1, .update, id: UInt64($0), columns: 5) }
        let good = entries.withUnsafeBytes { Array($0) }
        var fuzzer = try Fuzzer("log", seed: seed, good: [good, []])
        let test = try MemoryTable()
        try fuzzer.run(20_000) { bytes -> String in
            // Inputs of even length get the right checksum, like a forged list.
            let sum = bytes.withUnsafeBytes { Checksum.log($0, 5) }
            var trailer = Array(repeating: UInt8(0), count: 8)
            let isSealed = bytes.count % 2 == 0
            withUnsafeBytes(of: (UInt32(bytes.count / 24), isSealed ? sum : sum &+ 1)) { trailer = Array($0) }
            let value = bytes + trailer
            let isWhole = value.withUnsafeBytes { ChangeLog.isWhole($0, 5) }
            #expect(isWhole == (isSealed && bytes.count % 24 == 0), "TIDEGAUGE_SEED=\(seed): \(bytes)")
            do throws(EngineFailure) {
                let changes = try test.with(5, value) { (transaction, table) throws(EngineFailure) in
                    try ChangeLog.read(transaction, table, after: 4, to: 5)
                }
                #expect(isWhole && (changes?.count ?? 0) == bytes.count / 24)
                return "\(changes?.count ?? -1)"
            } catch {
                #expect(!isWhole)
                return "\(error.place)"
            }
        }
    }

    @Test("free: numbers of free pages are read within their list", arguments: seeds(1))
    func free(_ seed: UInt64) throws {
        let good = [UInt64(3), 9, 7, 5].withUnsafeBytes { Array($0) }
        var fuzzer = try Fuzzer("free", seed: seed, good: [good])
        try fuzzer.run(20_000) { bytes -> String in
            try Guarded.withBytes(bytes) { bytes in
                var count = 0
                do throws(EngineFailure) {
                    try LMDB.forEachPage(in: bytes) { _ in count += 1 }
                } catch {
                    return "refused"
                }
                #expect(8 + 8 * count <= bytes.count)
                return "\(count)"
            }
        }
    }

    private static let words = [
        "AND", "OR", "NOT", "IN", "ANY", "ALL", "NONE", "SUBQUERY(", "BEGINSWITH[c]", "LIKE", "CONTAINS", "BETWEEN",
        "SORT(", "DISTINCT(",
        "LIMIT(", "@count", "@sum", ".", ",", "(", ")", "{", "}", "$0", "$9", "==", "!=", "<=", "'", "\"", "\\", "`",
        "NULL", "true",
        "number", "name", "text", "next", "others", "words", "isMarked", "ratio", "1e999", "0x10", "-",
        "9223372036854775808",
    ]

    @Test("query: a text is read, printed and read as the same, or refused with a place", arguments: seeds(1))
    func query(_ seed: UInt64) throws {
        let path = FileManager.default.temporaryDirectory.path + "/stillingwell-fuzz-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try Store(.init(path: path, models: Samples.models, durability: .relaxed))
        defer { store.close() }
        let table = try store.core.storage.table(of: Sample.self)
        let tables = store.core.storage.tablesByID.values.map(\.schema)
        func parse(_ text: String, _ arguments: [QueryArgumentValue]) throws(StoreError) -> QueryText {
            try QueryParser.parse(text, table.schema, arguments, tables: { name in tables.first { $0.name == name } })
        }
        let good = [
            "number > 5 AND text BEGINSWITH[c] 'a' SORT(ratio DESC, name) LIMIT(3)",
            "ANY others.number == 3 OR next.next.name LIKE '*x?'",
            "words.@count > 2 AND NOT (isMarked == true)", "number IN {1, 2, $0} DISTINCT(text)",
            "others.@sum.number >= 2.5",
        ]
        var fuzzer = try Fuzzer("query", seed: seed, words: Self.words, good: good.map { Array($0.utf8) })
        try fuzzer.run(20_000) { bytes -> String in
            let text = String(decoding: bytes, as: UTF8.self)
            let query: QueryText
            do throws(StoreError) {
                query = try parse(text, [.value(.int(3)), .list([.string("a")])])
            } catch {
                guard case .invalidQuery(_, let line, let column, _) = error, line >= 1, column >= 1 else {
                    Issue.record("TIDEGAUGE_SEED=\(seed): \(text): \(error)")
                    return "other"
                }
                return kind(of: error)
            }
            var printer = QueryPrinter(.init(ModelLayout.of(Sample.self)))
            let printed = printer.print(query.filter)
            let again = try parse(printed, printer.arguments)
            #expect(again.filter.normalized == query.filter.normalized, "TIDEGAUGE_SEED=\(seed): \(text) | \(printed)")
            return printed.filter { !$0.isNumber && !$0.isLowercase }
        }
    }

    @Test("schema: whatever a file says its tables are, it is opened or refused", arguments: seeds(1))
    func schema(_ seed: UInt64) throws {
        let path = FileManager.default.temporaryDirectory.path + "/stillingwell-fuzz-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        do {
            let store = try Store(.init(path: path, models: Samples.models, durability: .relaxed))
            try Samples.fill(store)
            store.close()
        }
        let url = URL(fileURLWithPath: path + "/data.mdb")
        let original = try Data(contentsOf: url)
        let good = try SchemaText.read(path)
        let words = [
            "\"id\":", "\"primaryKey\":", "null", "true", "-1", "4294967295", "{}", "[]", "\"link\"", "\"list\"",
            "\"Sample\"",
        ]
        var fuzzer = try Fuzzer("schema", seed: seed, words: words, good: [good])
        try fuzzer.run(400) { bytes -> String in
            try original.write(to: url)
            try SchemaText.write(bytes, path)
            do {
                let store = try Store(.init(path: path, models: Samples.models, durability: .relaxed))
                defer { store.close() }
                _ = try store.read { try Samples.lines($0) }
                try store.write { connection in
                    let sample = Sample()
                    sample.name = "new"
                    try connection.add(sample)
                }
                return "opened"
            } catch let error as StoreError {
                return kind(of: error)
            }
        }
    }
}

/// A source without the large values that random rows refer to.
private final class NoValues: LargeValueSource {
    let failure: StoreError? = nil

    func bytes(ofLarge number: UInt64, sum: UInt32, byteCount: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: nil, count: 0)
    }
}
