import Foundation
import Testing

@testable import StillingWell

private enum Short {
    final class Animal: StoredObject {
        @Stored(.primaryKey) var name = ""
    }
}

private enum Long {
    final class Animal: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Stored var legs = 0
        @Stored var weight = 0.0
        @Stored var tag = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        @Stored var sound = ""
        @Stored var owner: String? = nil
    }
}

private final class Measured: StoredObject {
    @Stored(.primaryKey) var value = 0.0
}

@Suite("Values at the edge")
struct EdgeValueTests {
    @Test("strings that differ in their bytes are different constants, even if they look the same")
    func canonicalEquivalents() throws {
        let composed = "caf\u{e9}"
        let decomposed = "cafe\u{301}"
        let test = try TestStore()
        try test.store.write {
            try $0.add(Note(id: 1, title: composed))
            try $0.add(Note(id: 2, title: decomposed))
        }
        try test.store.read { connection in
            let notes = try connection.objects(Note.self)
            let first = notes.where(\.title == composed)
            let second = notes.where(\.title == decomposed)
            #expect(first.map(\.id) == [1])
            #expect(second.map(\.id) == [2])
            #expect(notes.where((\Note.title).in([composed, decomposed])).map(\.id) == [1, 2])
        }
    }

    @Test("a comparison with not a number is observed like any other")
    func notANumber() throws {
        let test = try TestStore()
        try test.store.write { try $0.add(Note(id: 1)) }
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let notes = try connection.objects(Note.self)
        var told: [String: [Int]] = [:]
        func observe(_ name: String, _ results: Results<Note>) throws -> NotificationToken {
            try results.observe { _ in told[name] = results.map(\.id) }
        }
        let tokens = [
            try observe("==", notes.where(\.weight == .nan)), try observe("!=", notes.where(\.weight != .nan)),
            try observe(">", notes.where(\.weight > .nan)),
            try observe("due", notes.where(\.due == Date(timeIntervalSinceReferenceDate: .nan))),
        ]
        // Equal plans share one evaluation, so a plan with NaN must equal itself.
        let nan = FilterExpression.compare(column: 3, .equal, .double(.nan))
        try #require(nan == nan && nan.hashValue == nan.hashValue)
        try scheduler.turn { told.count == 4 }
        #expect(told == ["==": [], "!=": [1], ">": [], "due": []])
        for token in tokens { token.invalidate() }
    }

    @Test("zero and minus zero are one primary key")
    func minusZero() throws {
        let test = try TestStore([Measured.self])
        try test.store.write { connection in
            let measured = Measured()
            measured.value = -0.0
            try connection.add(measured)
            #expect(try connection.object(Measured.self, forPrimaryKey: 0.0) != nil)
            #expect(throws: StoreError.self) { try connection.add(Measured()) }
        }
    }

    @Test("rows written before a property was added are found by the value that the property reads")
    func addedProperties() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func open(_ model: StoredObject.Type) throws -> Store {
            try Store(.init(path: path, models: [model], durability: .relaxed))
        }
        do { try open(Short.Animal.self).write { try $0.add(Short.Animal()) } }
        let store = try open(Long.Animal.self)
        func check(_ what: Comment) throws {
            try store.read { connection in
                let animals = try connection.objects(Long.Animal.self)
                #expect(animals[0].legs == 0 && animals[0].owner == nil)
                let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
                let passing: [Filter<Long.Animal>] = [
                    \.legs == 0, \.legs < 1, \.weight == 0, \.sound == "", \.tag == zero,
                    (\Long.Animal.legs).in([0, 4]),
                    \.owner == nil, \.owner != "Ada", !(\.legs != 0),
                ]
                for (number, filter) in passing.enumerated() {
                    #expect(animals.where(filter).count == 1, "filter \(number) \(what)")
                    let table = try store.core.storage.table(of: Long.Animal.self)
                    var index = QueryIndex(table.schema)
                    index.insert(Set(filter.expression.conjuncts), handle: 0)
                    var hits = 0
                    let row = try #require(connection.currentRow(table, ObjectID(rawValue: 1)))
                    index.forEachCandidate(nil, row) { _ in hits += 1 }
                    #expect(hits == 1, "index of filter \(number) \(what)")
                }
                #expect(animals.where(\.legs > 0).isEmpty && animals.where(\.owner == "").isEmpty)
            }
        }
        try check("before it was written again")
        try store.write { connection in
            try #require(try connection.object(Long.Animal.self, forPrimaryKey: "")).weight = 0
        }
        try check("after it was written again")
    }

    @Test("a row does not grow if its strings are repeatedly set to nil and back")
    func nullingStrings() throws {
        let test = try TestStore([Long.Animal.self])
        let table = try test.store.core.storage.table(of: Long.Animal.self)
        func bytes() throws -> Int {
            try test.store.read { try #require($0.currentRow(table, ObjectID(rawValue: 1))).byteCount }
        }
        func set(_ owner: String?) throws {
            try test.store.write { try $0.objects(Long.Animal.self)[0].owner = owner }
        }
        try test.store.write { try $0.add(Long.Animal()) }
        try set("a rather long name")
        let full = try bytes()
        for _ in 0..<10 {
            try set(nil)
            #expect(try bytes() < full)
            try set("a rather long name")
            #expect(try bytes() == full)
        }
    }

    @Test("a change keeps the columns that a newer program has added to the row")
    func widerRows() throws {
        let row = RowBuffer()
        row.reset(columnCount: 4)
        "name".self._write(row, 0)
        7._write(row, 1)
        "unknown text"._write(row, 2)
        9._write(row, 3)
        let change = RowBuffer()
        change.load(row.reader, columnCount: 2, outOfLine: [0])
        "another name"._write(change, 0)
        "n"._write(change, 0)
        8._write(change, 1)
        change.compact(columnCount: 2, outOfLine: [0])
        #expect(try String._read(change.reader, 0) == "n" && Int._read(change.reader, 1) == 8)
        #expect(change.reader.columnCount == 4)
        #expect(try String._read(change.reader, 2) == "unknown text" && Int._read(change.reader, 3) == 9)
    }

    @Test("a change that failed half way cannot be committed, and a full map names its size")
    func halfChange() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try Store(.init(path: path, models: [Note.self], durability: .relaxed, mapBytes: 1 << 20))
        let full = StoreError.mapFull(limitBytes: 1 << 20)
        let thrown = #expect(throws: StoreError.self) {
            try store.write { connection in
                let large = Note(id: 1)
                large.blob = Data(count: 4 << 20)
                #expect(throws: full) { try connection.add(large) }
            }
        }
        #expect(thrown == full)
        try store.write { try $0.add(Note(id: 1)) }
        #expect(try store.read { try $0.objects(Note.self).map(\.id) } == [1])
    }

    @Test("an object that outlives its block reports that instead of reading as empty")
    func afterBlock() throws {
        let test = try TestStore()
        let note = Note(id: 1, title: "kept")
        try test.store.write { connection in
            try connection.add(note)
            #expect(connection.misuse == nil)
        }
        #expect(note.connection?.misuse?.contains("block") == true)
        #expect(note.isInvalidated)
        let read = try test.store.read { try #require(try $0.object(Note.self, forPrimaryKey: 1)) }
        #expect(read.connection?.misuse?.contains("block") == true)
    }
}
