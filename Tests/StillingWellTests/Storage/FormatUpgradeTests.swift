// Tests of upgrades of the file format. The steps are the test's own: the library reads one format only.
import Foundation
import Testing

@testable import StillingWell

@Suite("File formats")
struct FormatUpgradeTests {
    private let file = SchemaFile()

    init() throws {
        let store = try file.open(Note.self, Dog.self, Human.self)
        try store.write { connection in
            for id in 0..<200 { try connection.add(Note(id: id, score: id)) }
            let human = Human(1)
            try connection.add(human)
            human.tags.append("x")
        }
    }

    /// Returns two further formats. Each step adds 1,000 to the score of every note.
    private func formats(failingIn failing: Int? = nil) -> FileFormats {
        let current = StoreSchema.currentFormat
        let step: FileFormats.Step = { engine, schema in
            let table = try #require(schema.table("Note"))
            let score = try #require(table.columns.firstIndex { $0.name == "score" })
            try engine.forEachRow(table.id) { id, bytes in
                let row = RowBuffer(bytes, engine.values.unretained, widenedTo: table)
                let old = bytes.withUnsafeBytes { Int._read(RowReader($0), score) }
                row.setSlot(score, UInt64(bitPattern: Int64(old + 1_000)))
                try engine.put(table, id, row)
            }
            if schema.format == failing { throw CancellationError() }
        }
        return FileFormats(current: current + 2, steps: [current: step, current + 1: step])
    }

    private func open(_ formats: FileFormats) throws -> Storage {
        let directory = try StoreDirectory(file.path, .relaxed, FileModes(0o600))
        let models: [StoredObject.Type] = [Note.self, Human.self, Dog.self]
        var request = SchemaRequest(models: models.map { ModelLayout.declaration(of: $0) })
        request.formats = formats
        return try Storage.open(
            directory, durability: .relaxed, mapBytes: 1 << 30, schema: request, flushes: .off,
            limit: .none)
    }

    private func scores(_ storage: Storage) throws -> [Int] {
        let table = try #require(storage.tablesByID.values.first { $0.schema.name == "Note" })
        let score = try #require(table.schema.columns.firstIndex { $0.name == "score" })
        let snapshot = try storage.openSnapshot()
        var scores: [Int] = []
        snapshot.scan(table) { _, row, _ in
            scores.append(Int._read(row, score))
            return true
        }
        try snapshot.checkReads()
        return scores
    }

    private func scoresInShippedFormat() throws -> [Int] {
        try file.open(Note.self, Dog.self, Human.self).read { try $0.objects(Note.self).sorted(by: \.id).map(\.score) }
    }

    @Test("every step runs once, and an older library then refuses the file")
    func upgrade() throws {
        for _ in 0..<2 { #expect(try scores(open(formats())) == (0..<200).map { $0 + 2_000 }) }
        let text = refusal { _ = try scoresInShippedFormat() }
        #expect(text.contains("its format 7 is newer than this library's 5; update the library"))
    }

    @Test("a step that fails leaves the file in its format, with all that it had")
    func failure() throws {
        #expect(throws: CancellationError.self) { try open(formats(failingIn: StoreSchema.currentFormat + 1)) }
        #expect(try scoresInShippedFormat() == Array(0..<200))
    }

    @Test("while another process has the store open, the upgrade is refused")
    func otherProcess() throws {
        let other = try FixtureProcess(path: file.path, .relaxed, ["hold"])
        try other.waitUntilReady()
        let text = refusal { _ = try open(formats()) }
        #expect(text.contains("its format 5 has to become 7") && text.contains("end that process"))
        try other.killNow()
        #expect(try scoresInShippedFormat() == Array(0..<200))
    }

    @Test("a format from which no steps lead here is refused")
    func tooOld() throws {
        let formats = formats().range
        #expect(formats.oldest == StoreSchema.currentFormat && FormatRange.shipped.oldest == StoreSchema.currentFormat)
        let text = refusal { try formats.check(StoreSchema.currentFormat - 1, path: "p") }
        #expect(text.contains("its format 4 is older than 5") && text.contains("the library of commit 0f28f9de"))
    }
}
