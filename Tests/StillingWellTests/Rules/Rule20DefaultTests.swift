// Rule 20. The values of a new property in existing rows. They are the default values of new objects.
import Foundation
import Testing

@testable import StillingWell

private enum Older {
    final class Rated: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored var text = ""
    }
}

private enum Newer {
    final class Rated: StoredObject {
        @Stored var note = "none"
        @Stored(.indexed) var rating = 5
        @Stored(.primaryKey) var id = 0
        @Stored var mood = Mood.wild
        @Stored var text = ""
        @Stored var tag = UUID()
        @Stored var limit: Int? = 3
        @Stored var due: Date? = nil
        @Stored var ratio: Float = 0.5
        @Stored var isOpen = true
        @Stored(.indexed) var zero = 0
        @Linked var next: Rated?
        @Listed var moods: List<Mood>
    }
}

/// All default values are zero.
private enum Zeros {
    final class Rated: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored var text = ""
        @Stored var rating = 0
        @Stored var mood = Mood.calm
        @Stored var note: String? = nil
    }
}

/// Only a text is new.
private enum Noted {
    final class Rated: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored var text = ""
        @Stored var note = "none"
    }
}

/// `text` has become a number, and another property is the key.
private enum Changed {
    final class Rated: StoredObject {
        @Stored var id = 0
        @Stored var text = 7
        @Stored(.primaryKey) var tag = UUID()
        @Stored var rating = 5
    }
}

@Suite("Rule 20: new properties begin with their defaults", .serialized)
struct Rule20DefaultTests {
    /// Makes a file with rows 0 to 5.
    private func file() throws -> SchemaFile {
        let file = SchemaFile()
        try file.open(Older.Rated.self).write { connection in
            for id in 0..<6 {
                let rated = Older.Rated()
                (rated.id, rated.text) = (id, "row \(id)")
                try connection.add(rated)
            }
        }
        return file
    }

    @Test("old rows have the defaults of new objects")
    func values() throws {
        let file = try file()
        try file.open(Newer.Rated.self).read { connection in
            let rows = try connection.objects(Newer.Rated.self)
            #expect(rows.map(\.id) == Array(0..<6) && rows.map(\.text) == (0..<6).map { "row \($0)" })
            for row in rows {
                #expect(row.rating == 5 && row.note == "none" && row.mood == .wild && row.limit == 3 && row.due == nil)
                #expect(row.ratio == 0.5 && row.isOpen && row.zero == 0 && row.next == nil && row.moods.isEmpty)
            }
            #expect(Set(rows.map(\.tag)).count == 6, "each row has the default of an object of its own")
        }
    }

    @Test("filters, orders, indexes and sums use the default for old rows")
    func queries() throws {
        let file = try file()
        let store = try file.open(Newer.Rated.self)
        try store.write { connection in
            let rows = try connection.objects(Newer.Rated.self)
            try #require(try connection.object(Newer.Rated.self, forPrimaryKey: 4)).rating = 1
            #expect(rows.where(\.rating == 5).count == 5 && rows.where(\.rating == 0).count == 0)
            #expect(rows.where(\.rating < 5).map(\.id) == [4] && rows.where(\.zero == 0).count == 6)
            #expect(rows.where(\.limit == nil).isEmpty && rows.where(\.isOpen == true).count == 6)
            #expect(rows.sorted(by: \.rating).first?.id == 4 && rows.sum(\.rating) == 26)
            #expect(try rows.where("mood == 7 AND note CONTAINS 'on'").count == 6)
            #expect(rows.sectioned(by: \.rating).keys == [1, 5])
        }
        #expect(try store.read { try $0.objects(Newer.Rated.self).where(\.rating == 5).count } == 5)
    }

    @Test("a default of zero writes no row")
    func zeros() throws {
        let file = try file()
        func widths<Object: StoredObject>(_ store: Store, _ type: Object.Type) throws -> Set<Int> {
            try store.read { connection in
                let table = try connection.core.storage.table(of: type)
                return Set(
                    try connection.objects(type).compactMap {
                        connection.currentRow(table, $0.objectID!)?.columnCount
                    })
            }
        }
        do {
            let store = try file.open(Zeros.Rated.self)
            #expect(try widths(store, Zeros.Rated.self) == [2])
            #expect(
                try store.read { try $0.objects(Zeros.Rated.self).allSatisfy { $0.mood == .calm && $0.note == nil } })
        }
        // The rows lack the columns that `Zeros` added. Those read as zero, not as the defaults of `Newer`.
        let store = try file.open(Newer.Rated.self, version: 1) { _ in }
        try store.read { connection in
            let rows = try connection.objects(Newer.Rated.self)
            #expect(
                rows.allSatisfy { $0.rating == 0 && $0.mood == .calm && $0.note == "" && $0.limit == 3 && $0.isOpen })
        }
    }

    @Test("a migration block sees them and may set others, also where the type or the key has changed")
    func migration() throws {
        let file = try file()
        let store = try file.open(Changed.Rated.self, version: 1) { migration in
            for round in 0..<2 {
                try migration.enumerate("Rated") { old, new in
                    let id = try #require(old["id"] as? Int)
                    #expect(new["text"] as? Int == (round == 1 && id == 1 ? 70 : 7))
                    #expect(new["rating"] as? Int == (round == 1 && id == 1 ? 1 : 5))
                    if id == 1 { (new["rating"], new["text"]) = (1, 70) }
                }
            }
        }
        try store.read { connection in
            let rows = try connection.objects(Changed.Rated.self)
            #expect(rows.map(\.rating) == [5, 1, 5, 5, 5, 5] && rows.map(\.text) == [7, 70, 7, 7, 7, 7])
            for row in rows { #expect(try connection.object(Changed.Rated.self, forPrimaryKey: row.tag) == row) }
        }
    }

    @Test("the content then has a version of its own, from which observers continue")
    func version() throws {
        let file = try file()
        let before = try file.open(Older.Rated.self).read { $0.version }
        let store = try file.open(Newer.Rated.self)
        #expect(try store.read { $0.version } == before + 1)
        let feed = try Feed(store)
        try feed.observe("fives", feed.connection.objects(Newer.Rated.self).where(\.rating == 5).sorted(by: \.id))
        try store.write { try #require(try $0.object(Newer.Rated.self, forPrimaryKey: 3)).rating = 6 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["fives -3"])
    }

    // MARK: Several processes

    private func upgrade(_ file: SchemaFile, _ kind: String, _ count: Int) throws -> FixtureProcess {
        try FixtureProcess(path: file.path, .relaxed, ["upgrade", kind, "\(count)"])
    }

    @Test("a program that would add rows without the new property has to end first")
    func others() throws {
        let file = SchemaFile()
        let older = try upgrade(file, "old", 3)
        try older.waitUntilReady()
        let text = refusal { _ = try file.open(Noted.Rated.self) }
        #expect(
            text.contains("'Rated.note' is new, with a value to begin with, and another process has the store open"))
        do { _ = try file.open(Older.Rated.self) }
        try older.go()
        try older.waitForLines(1)
        try older.killNow()
        let newer = try upgrade(file, "new", .max)
        try newer.waitForEnd()
        #expect(newer.output.value.lines == ["ready", "4"])
        // The older program is refused from then on.
        let late = try upgrade(file, "old", 0)
        try late.waitForEnd()
        #expect(late.output.value.lines.isEmpty)
    }

    @Test("if the process is killed, either all rows have the default or none", arguments: [3, 4, 5, 40, 101])
    func killed(_ count: Int) throws {
        let file = SchemaFile()
        let older = try upgrade(file, "old", 100)
        try older.waitUntilReady()
        try older.killNow()
        let newer = try upgrade(file, "new", count)
        try newer.waitForEnd()
        #expect(newer.output.value.lines.isEmpty)
        do {
            let store = try file.open(Older.Rated.self)
            #expect(try store.read { try $0.objects(Older.Rated.self).map(\.text) } == (0..<100).map { "row \($0)" })
        }
        let again = try upgrade(file, "new", .max)
        try again.waitForEnd()
        #expect(again.output.value.lines == ["ready", "100"])
    }
}
