import CStillingWellLMDB
import CStillingWellPlatform
import Foundation
import StillingWellFixtures
import Testing

@testable import StillingWell

@Suite("Checksums", .timeLimit(.minutes(10)))
struct ChecksumTests {
    private func makeStore() throws -> TestStore {
        let test = try TestStore()
        try test.store.write { connection in
            for id in 0..<3 { try connection.add(Note(id: id, score: id, title: "row-marker \(id)")) }
        }
        return test
    }

    /// Copies the content to a file that no process has read.
    private func copy(_ test: TestStore, _ models: [StoredObject.Type] = [Note.self]) throws -> Store {
        let path = test.path + "/copy-\(UUID().uuidString)"
        try test.store.compact(to: path)
        return try Store(.init(path: path, models: models, durability: .relaxed))
    }

    private func damage(_ body: () throws -> Void) -> (table: String?, object: ObjectID?)? {
        do {
            try body()
        } catch StoreError.damaged(_, let table, let object, _) {
            return (table, object)
        } catch {
            Issue.record("\(error)")
        }
        return nil
    }

    @Test("the processor's instruction and the table give the same checksums")
    func fallback() {
        // Short lengths, and lengths around those at which three lanes of 4,096 bytes are summed once or twice.
        let lengths = Array(0..<300) + Array(12_285..<12_325) + [24_575, 24_576, 24_577, 40_000]
        let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 251) }
        let words = withUnsafeBytes(of: (UInt64(7), UInt64(9))) { cp_crc32c_by_table(~0, $0.baseAddress, 16) }
        #expect(cp_crc32c_word(cp_crc32c_word(~0, 7), 9) == words)
        for count in lengths.map(UInt.init) {
            #expect(cp_crc32c_entry(7, 9, bytes, count) == cp_crc32c_by_table(words, bytes, count))
        }
        // The check value of CRC-32C.
        let digits = Array("123456789".utf8)
        #expect(~cp_crc32c_by_table(~0, digits, UInt(digits.count)) == 0xe306_9283)
    }

    @Test("a row that has changed is an error that names it, and the others are read")
    func row() throws {
        let test = try makeStore()
        defer { withExtendedLifetime(test) {} }
        let store = try copy(test)
        try DamagedFile.replace("row-marker 1", by: "row-marker 7", in: store.configuration.path)
        let found = damage { try store.read { for note in try $0.objects(Note.self) { _ = note.title } } }
        #expect(found?.table == "Note" && found?.object != nil)
        #expect(try store.read { try $0.object(Note.self, forPrimaryKey: 2)?.title } == "row-marker 2")
        let again = damage { _ = try store.read { try $0.object(Note.self, forPrimaryKey: 1)?.title } }
        #expect(again?.object == found?.object)
        let written = damage { try store.write { try $0.object(Note.self, forPrimaryKey: 1)?.score = 5 } }
        #expect(written?.object == found?.object)
        try store.write { try $0.object(Note.self, forPrimaryKey: 2)?.score = 5 }
        #expect(try store.read { try $0.object(Note.self, forPrimaryKey: 2)?.score } == 5)
    }

    @Test("counting, searching and adding up report the damage", arguments: 0..<3)
    func counted(_ question: Int) throws {
        let test = try makeStore()
        defer { withExtendedLifetime(test) {} }
        let store = try copy(test)
        try DamagedFile.replace("row-marker 1", by: "row-marker 7", in: store.configuration.path)
        let found = damage {
            try store.read { connection in
                let notes = try connection.objects(Note.self)
                switch question {
                case 0: _ = notes.where(\.score >= 0).count
                case 1: _ = notes.where((\Note.title).contains("marker")).count
                default: _ = notes.sum(\.score)
                }
            }
        }
        #expect(found?.table == "Note" && found?.object != nil)
    }

    @Test("a changed entry of an index is an error, and so is a page whose keys do not ascend")
    func keysAndIndexes() throws {
        let test = try TestStore([Sample.self, SampleNumber.self])
        try Samples.fill(test.store)
        defer { withExtendedLifetime(test) {} }
        let texts = try copy(test, Samples.models)
        // Sort keys end in a zero, so only the index holds these bytes, and the rows do not.
        try DamagedFile.replace("text 1 ä\u{0}", by: "text 1 á\u{0}", in: texts.configuration.path)
        let entry = damage {
            try texts.read { for _ in try $0.objects(Sample.self).where((\Sample.text).hasPrefix("text 1")) {} }
        }
        #expect(entry?.table == "Sample" && entry?.object == nil)
        // This change makes the keys of a page not ascend.
        let unordered = try copy(test, Samples.models)
        try DamagedFile.replace("text 1 ä\u{0}", by: "text 1 ö\u{0}", in: unordered.configuration.path)
        #expect {
            try unordered.read { for _ in try $0.objects(Sample.self).where((\Sample.text).hasPrefix("text 1")) {} }
        } throws: { ($0 as? StoreError)?.isOfFile == true }
    }

    @Test("a row that another process has written since is checked again")
    func foreign() throws {
        let test = try TestStore(Batches.models)
        try test.store.write { try Batches.increment("row-marker", $0) }
        func values() throws -> [Int] {
            try test.store.read { connection in
                var values: [Int] = []
                for counter in try connection.objects(Counter.self) { values.append(counter.value) }
                return values
            }
        }
        #expect(try values() == [1])
        let other = try FixtureProcess(test, "increment", "row-marker", "1", "0")
        try other.go()
        try other.waitForLines(1)
        try DamagedFile.replace("row-marker", by: "row-market", in: test.path)
        let found = damage { _ = try values() }
        #expect(found?.table == "Counter")
    }

    @Test("a snapshot that is older than foreign commits does not use checks that were made after them")
    func held() throws {
        let test = try TestStore(Batches.models)
        try test.store.write { try Batches.increment("row-marker", $0) }
        let storage = test.store.core.storage
        let table = try #require(storage.tables[ObjectIdentifier(Counter.self)])
        // A newly opened copy, because pages written by this process are not checked.
        let copy = try copy(test, Batches.models)
        let held = try copy.core.storage.openSnapshot()
        let other = try FixtureProcess(path: copy.configuration.path, .relaxed, ["increment", "row-marker", "1", "0"])
        try other.go()
        try other.waitForLines(1)
        let newest = try copy.core.storage.openSnapshot()
        let copied = try #require(copy.core.storage.tables[ObjectIdentifier(Counter.self)])
        #expect(copied.id == table.id && newest.version == held.version + 1)
        #expect(newest.row(copied, ObjectID(rawValue: 1)) != nil)
        try DamagedFile.replace("row-marker", by: "row-market", in: copy.configuration.path)
        #expect(newest.row(copied, ObjectID(rawValue: 1)) != nil, "checked before")
        #expect(held.row(copied, ObjectID(rawValue: 1)) == nil && held.failure?.isOfFile == true)
    }

    @Test("a row that this process has written or read is not checked again")
    func once() throws {
        let test = try makeStore()
        #expect(try test.store.read { try $0.objects(Note.self).map(\.score) } == [0, 1, 2])
        let table = try #require(test.store.core.storage.tables[ObjectIdentifier(Note.self)])
        let snapshot = try test.store.core.storage.openSnapshot()
        var ids: [UInt64] = []
        snapshot.scan(table) { id, _, _ in
            ids.append(id.rawValue)
            return true
        }
        #expect(ids.count == 3 && ids.allSatisfy { table.checked.contains($0, at: snapshot.version) })
    }

    @Test("a valid row under the key of another row is damage")
    func place() throws {
        let test = try makeStore()
        let table = try #require(test.store.core.storage.tables[ObjectIdentifier(Note.self)])
        let snapshot = try test.store.core.storage.openSnapshot()
        let row = try #require(snapshot.row(table, ObjectID(rawValue: 1))).image
        #expect(RowReader.isWhole(row, table.id, 1))
        #expect(!RowReader.isWhole(row, table.id, 2))
        #expect(!RowReader.isWhole(row, table.id + 1, 1))
    }

    @Test("a changed list of a version's changes is not used")
    func log() throws {
        let test = try makeStore()
        let storage = test.store.core.storage
        let before = try storage.openSnapshot()
        try test.store.write { try $0.object(Note.self, forPrimaryKey: 1)?.score = 5 }
        var transaction: LMDBTransaction?
        try storage.check(mdb_txn_begin(storage.environment, nil, 0, &transaction), "begin")
        let found = try LMDB.get(try #require(transaction), storage.log, id: before.version + 1)
        var entries = Array(try #require(found))
        entries[8] ^= 2
        let code = entries.withUnsafeBytes { LMDB.put(transaction!, storage.log, id: before.version + 1, $0) }
        try storage.check(code, "store")
        try storage.check(mdb_txn_commit(transaction), "commit")
        let written = damage { try test.store.write { try $0.object(Note.self, forPrimaryKey: 1)?.score = 6 } }
        #expect(written != nil && written?.table == nil)
        let after = try storage.openSnapshot()
        #expect(after.changes(after: before.version) == nil)
        #expect(after.failure?.isOfFile == true)
    }
}
