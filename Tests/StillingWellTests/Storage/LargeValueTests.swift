// Tests of values of more than a kilobyte, which are stored apart from their rows.
import CStillingWellLMDB
import Foundation
import StillingWellFixtures
import StillingWellTestThreads
import Testing

@testable import StillingWell

final class Paper: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var number = 0
    @Stored(.indexed) var text = ""
    @Stored var data: Data? = nil
    @Linked var next: Paper?
    @Listed var words: List<String>

    convenience init(_ id: Int, _ text: String = "", data: Data? = nil) {
        self.init()
        (self.id, self.text, self.data) = (id, text, data)
    }
}

@Suite("Large values", .timeLimit(.minutes(10)))
struct LargeValueTests {
    private static let lengths = [0, 1, 1_023, 1_024, 1_025, 5_000, 1_000_000]

    private func text(_ length: Int, _ letter: Character = "x") -> String { String(repeating: letter, count: length) }

    private func bytes(_ length: Int, _ seed: Int = 1) -> Data {
        Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) })
    }

    private func makeStore(_ durability: Durability = .relaxed) throws -> TestStore {
        let test = try TestStore([Paper.self], durability: durability)
        try test.store.write { connection in
            for (id, length) in Self.lengths.enumerated() {
                try connection.add(Paper(id, text(length), data: bytes(length)))
            }
        }
        return test
    }

    private func paper(_ id: Int, _ connection: Connection) throws -> Paper {
        try #require(try connection.object(Paper.self, forPrimaryKey: id))
    }

    /// Returns the numbers of the values stored apart, for each paper's row, and the count of all such values.
    private func numbers(_ store: Store) throws -> (rows: [[UInt64]], all: Int) {
        let snapshot = try store.core.storage.openSnapshot()
        let table = try #require(store.core.storage.tables[ObjectIdentifier(Paper.self)])
        var rows: [[UInt64]] = []
        snapshot.scan(table) { _, row, _ in
            rows.append(row.largeValues.map(\.number))
            return true
        }
        let all = snapshot.reading(or: -1) { (transaction) throws(EngineFailure) in
            try LMDB.count(transaction, store.core.storage.values)
        }
        return (rows, all)
    }

    private func expectWhole(_ store: Store) throws {
        let report = try store.verify()
        #expect(report.isWhole, "\(report.damage)")
    }

    @Test(
        "read as they were stored, about the length from which they lie apart",
        arguments: [Durability.full, .relaxed, .memory])
    func read(_ durability: Durability) throws {
        let test = try makeStore(durability)
        func check(_ connection: Connection) throws {
            for (id, length) in Self.lengths.enumerated() {
                #expect(try paper(id, connection).text == text(length) && paper(id, connection).data == bytes(length))
            }
            #expect(try connection.objects(Paper.self).map(\.text.utf8.count) == Self.lengths)
        }
        try test.store.read(check)
        try test.store.write { connection in
            try check(connection)
            try connection.add(Paper(100, text(3_000), data: bytes(2_000, 7)))
            #expect(try paper(100, connection).text == text(3_000) && paper(100, connection).data == bytes(2_000, 7))
            try connection.delete(try paper(100, connection))
        }
        #expect(try numbers(test.store).rows.map(\.count) == [0, 0, 0, 0, 2, 2, 2])
        try expectWhole(test.store)
    }

    @Test("a change of another property leaves the value where it is; one of the value deletes the old")
    func changes() throws {
        let test = try makeStore()
        let before = try numbers(test.store)
        #expect(before.all == 6)
        try test.store.write { for paper in try $0.objects(Paper.self) { paper.number += 1 } }
        #expect(try numbers(test.store).rows == before.rows)
        try test.store.write { try paper(5, $0).text = text(2_000, "y") }
        let changed = try numbers(test.store)
        #expect(changed.all == 6 && changed.rows[5][0] > before.rows[6][1] && changed.rows[5][1] == before.rows[5][1])
        try test.store.write { connection in
            try paper(4, connection).text = "short"
            try paper(5, connection).data = nil
            try connection.delete(try paper(6, connection))
        }
        let after = try numbers(test.store)
        #expect(after.all == 2 && after.rows == [[], [], [], [], [before.rows[4][1]], [changed.rows[5][0]]])
        #expect(try test.store.read { try paper(5, $0).text } == text(2_000, "y"))
        #expect(try test.store.read { try paper(5, $0).data } == nil)
        #expect(try test.store.read { try paper(4, $0).data } == bytes(1_025))
        try expectWhole(test.store)
    }

    @Test("several changes in one block, a part that is given up, a block that throws")
    func blocks() throws {
        let test = try makeStore()
        struct GivenUp: Error {}
        try test.store.write { connection in
            let paper = try paper(5, connection)
            for turn in 0..<5 {
                paper.text = text(2_000 + turn, "t")
                // A query inside the block makes the store write the changed row first.
                #expect(try connection.objects(Paper.self).where(\.text == text(2_000 + turn, "t")).count == 1)
                paper.data = turn % 2 == 0 ? nil : bytes(4_000, turn)
                #expect(paper.text == text(2_000 + turn, "t"))
            }
        }
        #expect(try numbers(test.store).all == 5)
        let before = try numbers(test.store).rows
        #expect(throws: GivenUp.self) {
            try test.store.write { connection in
                try paper(5, connection).text = text(9_000, "u")
                try connection.delete(try paper(6, connection))
                _ = try connection.objects(Paper.self).count
                throw GivenUp()
            }
        }
        #expect(try numbers(test.store).rows == before)
        #expect(try test.store.read { try paper(6, $0).text } == text(1_000_000))
        try expectWhole(test.store)
    }

    @Test("filters, orders, indexes, links and lists take them like others")
    func queries() throws {
        let test = try makeStore()
        let ends = ["a", "b", "c"].map { text(3_000, "z") + $0 }
        try test.store.write { connection in
            for (index, end) in ends.reversed().enumerated() {
                let paper = Paper(10 + index, end)
                paper.next = try self.paper(6, connection)
                paper.words = ["small", end]
                try connection.add(paper)
            }
        }
        // The first query at a version.
        try test.store.read { connection in
            let papers = try connection.objects(Paper.self).where((\Paper.text).contains("zzb"))
            #expect(papers.sorted(by: \.text, ascending: false).limited(to: 1).map(\.id) == [11])
        }
        func check(_ connection: Connection) throws {
            let papers = try connection.objects(Paper.self)
            func ids(_ found: Results<Paper>) -> [Int] { found.map(\.id) }
            #expect(ids(papers.where(\.text == ends[1])) == [11])
            #expect(ids(papers.where(\.text > ends[0]).sorted(by: \.text)) == [11, 10])
            #expect(ids(papers.where((\Paper.text).hasPrefix(text(1_100, "z"))).sorted(by: \.text)) == [12, 11, 10])
            #expect(ids(papers.where((\Paper.text).contains("zzc"))) == [10])
            #expect(papers.where((\Paper.text).contains("zz")).count == 3)
            #expect(ids(papers.where(\.data == bytes(5_000))) == [5])
            #expect(ids(papers.where((\Paper.next!.text) == text(1_000_000))) == [10, 11, 12])
            #expect(ids(papers.sorted(by: \.text, ascending: false).limited(to: 3)) == [10, 11, 12])
            #expect(papers.distinct(by: [\.text]).count == papers.count)
            #expect(Array(try paper(10, connection).words) == ["small", ends[2]])
        }
        try test.store.read(check)
        try test.store.write { connection in
            try check(connection)
            let words = try paper(10, connection).words
            words.move(from: 1, to: 0)
            words.append(text(2_000, "w"))
            words[1] = text(1_500, "v")
        }
        #expect(
            try test.store.read { Array(try paper(10, $0).words) } == [ends[2], text(1_500, "v"), text(2_000, "w")])
        try test.store.write { try $0.delete(try paper(10, $0)) }
        try expectWhole(test.store)
    }

    @Test("observers are told of old and new ones, and of none that stayed")
    func observers() throws {
        let test = try makeStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let observed = try paper(5, connection)
        var told: [[PropertyChange]] = []
        var modified: [[Int]] = []
        var isShown = false
        let object = try observed.observe { change in
            if case .change(_, let properties) = change { told.append(properties) }
        }
        let results = try connection.objects(Paper.self).where((\Paper.text).hasPrefix("x")).observe(keyPaths: [
            \Paper.text
        ]) {
            if case .update(_, let changes) = $0 { modified.append(changes.modificationsNew) } else { isShown = true }
        }
        try scheduler.turn { isShown }
        try test.store.write { try paper(5, $0).number = 7 }
        try scheduler.turn { told.count == 1 }
        try test.store.write { try paper(5, $0).text = text(6_000) }
        try scheduler.turn { told.count == 2 && modified.count == 1 }
        #expect(told[0].map(\.name) == ["number"] && told[1].map(\.name) == ["text"])
        #expect(told[1].first?.oldValue == .string(text(5_000)) && told[1].first?.newValue == .string(text(6_000)))
        #expect(modified == [[4]] && observed.text == text(6_000) && observed.data == bytes(5_000))
        (object.invalidate(), results.invalidate())
    }

    @Test("the first change of a large value is told with its old value")
    func firstChange() throws {
        let test = try makeStore()
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let observed = try paper(6, connection)
        var told: [PropertyChange] = []
        let token = try observed.observe { if case .change(_, let properties) = $0 { told += properties } }
        try test.store.write { try $0.object(Paper.self, forPrimaryKey: 6)?.data = nil }
        try scheduler.turn { !told.isEmpty }
        #expect(told.first?.oldValue == .data(bytes(1_000_000)) && told.first?.newValue == .null)
        token.invalidate()
    }

    @Test("a frozen version keeps its own, however often they change after it")
    func frozen() throws {
        let test = try makeStore()
        test.store.core.storage.heldVersions.patienceNs.store(0, ordering: .relaxed)
        let frozen = try test.store.read { try $0.objects(Paper.self).freeze() }
        for turn in 0..<600 { try test.store.write { try paper(turn % 7, $0).text = text(1_100 + turn, "f") } }
        #expect(frozen.map(\.text) == Self.lengths.map { text($0) })
        #expect(frozen.map(\.data) == Self.lengths.map { bytes($0) })
        #expect(try numbers(test.store).all == 10)
    }

    @Test("a changed value on the disk is an error to its reader, and nothing else is")
    func damaged() throws {
        let test = try makeStore()
        try test.store.write { try paper(5, $0).text = text(2_000) + "marked" }
        let path = test.path + "/copy"
        try test.store.compact(to: path)
        try DamagedFile.replace("marked", by: "markeD", in: path)
        try checkDamaged(path)
        let found = try Store.salvage(path: path, to: path + "/new")
        #expect(found.tables.first { $0.name == "Paper" }?.wholeObjects == 6)
        let salvaged = try Store(.init(path: path + "/new", models: [Paper.self], durability: .relaxed))
        let kept = [0, 1, 2, 3, 4, 6].map { bytes(Self.lengths[$0]) }
        #expect(try salvaged.read { try $0.objects(Paper.self).map(\.data) } == kept)
        #expect(try numbers(salvaged).all == 4)
        try expectWhole(salvaged)
        try salvaged.write { try $0.add(Paper(50, text(2_000))) }
        try expectWhole(salvaged)
    }

    private func checkDamaged(_ path: String) throws {
        let store = try Store(.init(path: path, models: [Paper.self], durability: .relaxed))
        func isDamaged(_ body: () throws -> Void) -> Bool {
            do { try body() } catch StoreError.damaged { return true } catch { Issue.record("\(error)") }
            return false
        }
        #expect(isDamaged { _ = try store.read { try paper(5, $0).text } })
        #expect(
            isDamaged { _ = try store.read { try $0.objects(Paper.self).where((\Paper.text).contains("mark")).count } })
        #expect(isDamaged { try store.write { connection in _ = try paper(5, connection).text } })
        #expect(try store.read { try paper(5, $0).data } == bytes(5_000))
        #expect(try store.read { try paper(6, $0).text } == text(1_000_000))
        let report = try store.verify()
        #expect(!report.isWhole && report.tables.first { $0.name == "Paper" }?.damagedObjects.count == 1)
    }

    @Test("a large value differs between two versions of a row only if its bytes do")
    func comparing() throws {
        let test = try makeStore()
        let storage = test.store.core.storage
        let table = try #require(storage.tables[ObjectIdentifier(Paper.self)])
        let before = try storage.openSnapshot()
        try test.store.write { connection in
            try paper(4, connection).text = text(1_025, "y")
            try paper(5, connection).number = 1
            try paper(6, connection).text = text(1_000_000)
        }
        let changed = try storage.openSnapshot().differingRows(table, from: before)
        let columns = table.schema.columns
        let names = changed.map { row in
            columns.indices.filter { row.columns & 1 << UInt64($0) != 0 }.map { columns[$0].name }
        }
        #expect(names == [["text"], ["number"], []])
    }

    @Test("verify reports one that is missing, one that no object has, and a number that would be given out twice")
    func leftOver() throws {
        for number in [3 as UInt64, 500] {
            let test = try makeStore()
            try test.store.write { connection in
                try paper(5, connection).number = 1
                let transaction = try #require(connection.transaction)
                if number == 3 {
                    try transaction.storage.deleteValues([3], transaction.transaction)
                } else {
                    _ = try bytes(2_000).withUnsafeBytes {
                        try transaction.storage.put($0, number: number, transaction.transaction)
                    }
                }
            }
            let report = try test.store.verify()
            let damaged = report.tables.first { $0.name == "Paper" }?.damagedObjects.count
            if number == 3 {
                #expect(damaged == 1)
            } else {
                #expect(damaged == 0 && report.damage.contains { $0.contains("no object's") })
                #expect(report.damage.contains { $0.contains("next large value is taken") })
            }
        }
    }

    @Test("a value beyond the maximum length is refused, and nothing is lost")
    func tooLong() throws {
        let test = try makeStore()
        let limit = LargeValue.mostBytes
        #expect(throws: StoreError.valueTooLong(table: "Paper", bytes: limit + 1, limit: limit)) {
            try test.store.write { try paper(5, $0).data = Data(count: limit + 1) }
        }
        #expect(throws: StoreError.valueTooLong(table: "Paper", bytes: limit + 1, limit: limit)) {
            try test.store.write { try $0.add(Paper(7, data: Data(count: limit + 1))) }
        }
        #expect(try test.store.read { try paper(5, $0).data } == bytes(5_000))
        #expect(try test.store.read { try $0.objects(Paper.self).count } == 7)
        try test.store.write { try paper(5, $0).number = 3 }
        try expectWhole(test.store)
    }
}

// MARK: Migrations

private enum Before {
    final class Letter: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored var body = ""
        @Stored var note = ""
        @Listed var parts: List<String>
    }
    final class Stamp: StoredObject {
        @Stored var picture = Data()
    }
}

private enum After {
    final class Letter: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored(.indexed) var text = ""
        @Stored var copy = String(repeating: "default ", count: 300)
        @Listed var parts: List<String>
    }
}

@Suite("Large values in migrations", .timeLimit(.minutes(10)))
struct LargeValueMigrationTests {
    private func text(_ number: Int, _ length: Int = 3_000) -> String { String(repeating: "\(number)", count: length) }

    @Test("are renamed, read, copied and deleted with their rows, and none is left behind")
    func migration() throws {
        let file = SchemaFile()
        try file.open(Before.Letter.self, Before.Stamp.self).write { connection in
            for id in 0..<6 {
                let letter = Before.Letter()
                (letter.id, letter.body, letter.note) = (id, text(id), text(id, id % 2 == 0 ? 10 : 2_000))
                letter.parts = ["small", text(id, 1_500)]
                try connection.add(letter)
                let stamp = Before.Stamp()
                stamp.picture = Data(count: 2_000 + id)
                try connection.add(stamp)
            }
        }
        let store = try file.open(After.Letter.self, version: 1) { migration in
            try migration.renameProperty(on: "Letter", from: "body", to: "text")
            try migration.enumerate("Letter") { old, new in
                let id = try #require(old["id"] as? Int)
                #expect(old["body"] as? String == text(id) && new["text"] as? String == text(id))
                #expect((old[values: "parts"].last ?? nil) as? String == text(id, 1_500))
                if id == 1 { new["copy"] = old["note"] }
                if id == 2 { new["text"] = "short now" }
                if id == 3 { new[values: "parts"] = [text(3, 1_200)] }
                if id == 4 { try migration.delete(new.reference) }
            }
            try migration.create("Letter") { $0["id"] = 9 }
            try migration.deleteTable("Stamp")
        }
        let defaults = String(repeating: "default ", count: 300)
        try store.read { connection in
            let letters = try connection.objects(After.Letter.self).sorted(by: \.id)
            #expect(letters.map(\.id) == [0, 1, 2, 3, 5, 9])
            #expect(letters.map(\.text) == [text(0), text(1), "short now", text(3), text(5), ""])
            #expect(letters.map(\.copy) == [defaults, text(1, 2_000)] + Array(repeating: defaults, count: 4))
            #expect(
                Array(letters[3].parts) == [text(3, 1_200)] && Array(letters[0].parts) == ["small", text(0, 1_500)])
            #expect(try connection.objects(After.Letter.self).where(\.text == text(5)).map(\.id) == [5])
        }
        let report = try store.verify()
        #expect(report.isWhole, "\(report.damage)")
        try store.write { try $0.deleteAll() }
        #expect(try store.verify().isWhole)
    }
}
