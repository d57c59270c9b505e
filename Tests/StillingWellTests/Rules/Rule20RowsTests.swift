// Rule 20. Operations of a migration block on rows, links and lists: adding and deleting rows, setting links and lists.
import Foundation
import Testing

@testable import StillingWell

/// Each person has its address and tags as values.
private enum Flat {
    final class Person: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored(.indexed) var name = ""
        @Stored var city = ""
        @Linked var boss: Person?
        @Listed var tags: List<String>
        @Listed var friends: List<Person>
    }
}

/// Addresses and tags are objects. The friends were removed.
private enum Split {
    final class Person: StoredObject {
        @Stored(.primaryKey) var id = 0
        @Stored(.indexed) var name = ""
        @Linked var home: Address?
        @Linked var boss: Person?
        @Listed var tags: List<Tag>
        @Stored var mood = Mood.glad
    }
    final class Address: StoredObject {
        @Stored(.primaryKey) var city = ""
        @Stored var country = "none"
        @LinkingObjects(\Person.home) var people: Backlinks<Person>
    }
    final class Tag: StoredObject {
        @Stored(.indexed) var text = ""
        @Stored var weight = 1
    }
    final class Word: StoredObject {
        @Stored var text = ""
        @Listed var letters: List<String>
    }

    static let models: [StoredObject.Type] = [Person.self, Address.self, Tag.self]
}

@Suite("Rule 20: rows, links and lists in a migration", .serialized)
struct Rule20RowsTests {
    /// Makes people 0 to 5: cities a, b, c, previous person as boss, later ones as friends, tags x, y for 0, else z.
    private func file() throws -> SchemaFile {
        let file = SchemaFile()
        try file.open(Flat.Person.self).write { connection in
            var people: [Flat.Person] = []
            for id in 0..<6 {
                let person = Flat.Person()
                (person.id, person.name, person.city) = (id, "p\(id)", ["a", "b", "c"][id % 3])
                person.boss = people.last
                person.tags = id == 0 ? ["x", "y"] : ["z"]
                try connection.add(person)
                people.append(person)
            }
            for person in people { person.friends.append(contentsOf: people[(person.id + 1)...]) }
        }
        return file
    }

    private func migrate(
        _ file: SchemaFile, _ models: [StoredObject.Type] = Split.models,
        _ block: @escaping @Sendable (Migration) throws -> Void
    ) throws -> Store {
        try Store(.init(path: file.path, models: models, durability: .relaxed, schemaVersion: 1, migration: block))
    }

    @Test("values become objects that links and lists lead to")
    func split() throws {
        let file = try file()
        defer { withExtendedLifetime(file) {} }
        let store = try migrate(file) { migration in
            var addresses: [String: MigrationReference] = [:]
            var tags: [String: MigrationReference] = [:]
            try migration.enumerate("Person") { old, new in
                let city = try #require(old["city"] as? String)
                if addresses[city] == nil { addresses[city] = try migration.create("Address") { $0["city"] = city } }
                new[link: "home"] = addresses[city]
                #expect(new[link: "home"] == addresses[city] && old[link: "boss"] == new[link: "boss"])
                new[links: "tags"] = try old[values: "tags"].map { value in
                    let text = try #require(value as? String)
                    if tags[text] == nil { tags[text] = try migration.create("Tag") { $0["text"] = text } }
                    return tags[text]!
                }
                #expect(new[links: "tags"].count == old[values: "tags"].count)
            }
        }
        try store.write { connection in
            let people = try connection.objects(Split.Person.self).sorted(by: \.id)
            #expect(people.map { $0.home?.city } == ["a", "b", "c", "a", "b", "c"])
            #expect(people.map { $0.tags.map(\.text) } == [["x", "y"], ["z"], ["z"], ["z"], ["z"], ["z"]])
            #expect(people.map { $0.boss?.id } == [nil, 0, 1, 2, 3, 4] && people.allSatisfy { $0.mood == .glad })
            let address = try #require(try connection.object(Split.Address.self, forPrimaryKey: "b"))
            #expect(address.country == "none" && address.people.map(\.id) == [1, 4])
            #expect(people.where(\.home == address).count == 2 && people.where(\.name == "p3").count == 1)
            #expect(people.where(.any(\.tags, \.text == "z")).map(\.id) == [1, 2, 3, 4, 5])
            // Links and lists behave as if they had been written normally.
            try connection.delete(address)
            #expect(people.map { $0.home?.city } == ["a", nil, "c", "a", nil, "c"])
            people[0].tags.append(people[1].tags[0])
            people[0].tags.move(from: 2, to: 0)
            #expect(people[0].tags.map(\.text) == ["z", "x", "y"])
            let new = Split.Tag()
            try connection.add(new)
            #expect(try connection.objects(Split.Tag.self).map(\.text) == ["x", "y", "z", ""])
        }
    }

    @Test("deleted rows are gone from links, lists, keys and indexes, with the lists they had")
    func deleted() throws {
        let file = try file()
        let store = try migrate(file, [Flat.Person.self]) { migration in
            try migration.enumerate("Person") { old, new in
                if (old["id"] as? Int ?? 0) % 2 == 1 { try migration.delete(new.reference) }
                if old["id"] as? Int == 4 {
                    // The boss was deleted before.
                    #expect(new[link: "boss"] == nil && old[link: "boss"] != nil)
                    let reference = try #require(old[link: "boss"])
                    let boss = try #require(try migration.read(reference))
                    #expect(boss["name"] as? String == "p3" && boss[links: "friends"].count == 2)
                    new["name"] = "p4, who was under \(boss["name"] as? String ?? "")"
                }
            }
        }
        try store.write { connection in
            let people = try connection.objects(Flat.Person.self).sorted(by: \.id)
            #expect(people.map(\.id) == [0, 2, 4] && people.map { $0.boss?.id } == [nil, nil, nil])
            #expect(people.map { $0.friends.map(\.id) } == [[2, 4], [4], []])
            #expect(try connection.object(Flat.Person.self, forPrimaryKey: 3) == nil)
            #expect(people.where(\.name == "p3").isEmpty && people.where(\.name == "p4, who was under p3").count == 1)
            let lists = connection.core.storage.tablesByID.values.filter { $0.schema.name.contains(".") }
            let source = try #require(connection.currentSource)
            #expect(lists.map { source.reading(or: -1, $0.rowCount) }.sorted() == [3, 4], "of friends, and of tags")
            let back = Flat.Person()
            back.id = 3
            try connection.add(back)
            #expect(back.objectID!.rawValue > 6, "numbers are not given out again")
        }
    }

    @Test("rows that are added are not gone through, and begin with the defaults")
    func added() throws {
        let file = try file()
        let store = try migrate(file, [Flat.Person.self, Split.Tag.self]) { migration in
            var count = 0
            for round in 0..<2 {
                try migration.enumerate("Person") { old, new in
                    count += 1
                    let id = try #require(old["id"] as? Int)
                    let reference = try migration.create("Person") { twin in
                        twin["id"] = 100 * (round + 1) + id
                        twin[link: "boss"] = new.reference
                        twin[values: "tags"] = ["twin"]
                    }
                    #expect(try migration.read(reference) == nil)
                    new[links: "friends"] = new[links: "friends"] + [reference]
                }
            }
            #expect(count == 12)
            try migration.create("Tag")
        }
        try store.read { connection in
            let people = try connection.objects(Flat.Person.self)
            #expect(people.count == 18 && people.where(\.id >= 100).allSatisfy { $0.boss?.id == $0.id % 100 })
            #expect(
                people.where(\.name == "").count == 12 && people.where((\Flat.Person.tags).contains("twin")).count == 12
            )
            let first = try #require(try connection.object(Flat.Person.self, forPrimaryKey: 0))
            #expect(first.friends.map(\.id) == [1, 2, 3, 4, 5, 100, 200])
            #expect(try connection.objects(Split.Tag.self).map(\.weight) == [1])
        }
    }

    private struct Stop: Error {}

    /// Blocks that fail. `failing` makes changes before it runs one.
    private static let failures: [(what: String, words: String, block: @Sendable (Migration) throws -> Void)] = [
        ("an error of the block's own", "Stop", { _ in throw Stop() }),
        ("no model", "'Dog' is none of the models", { _ = try $0.create("Dog") }),
        ("a key twice", "already", { for _ in 0..<2 { try $0.create("Address") { $0["city"] = "x" } } }),
        (
            "another table's row", "was led to a row of 'Tag'",
            { migration in
                let tag = try migration.create("Tag")
                try migration.enumerate("Person") { _, new in new[link: "home"] = tag }
            }
        ),
        (
            "a row that is gone", "was led to a row that the block has deleted",
            { migration in
                let tag = try migration.create("Tag")
                try migration.delete(tag)
                try migration.enumerate("Person") { _, new in new[links: "tags"] = [tag] }
            }
        ),
        ("the old row", "set the new one", { try $0.enumerate("Person") { old, _ in old[link: "boss"] = nil } }),
        ("a link as a value", "use [link: \"boss\"]", { try $0.enumerate("Person") { old, _ in _ = old["boss"] } }),
        ("a list as a value", "use [values: \"tags\"]", { try $0.enumerate("Person") { _, new in new["tags"] = 1 } }),
        (
            "links as values", "is a list of links",
            { try $0.enumerate("Person") { _, new in new[values: "tags"] = [] } }
        ),
        ("no list", "is no list", { try $0.enumerate("Person") { _, new in new[links: "boss"] = [] } }),
        (
            "an element of another type", "convert it",
            { try $0.create("Word") { $0[values: "letters"] = ["a", 1] } }
        ),
        ("a null element", "give it a value", { try $0.create("Word") { $0[values: "letters"] = [nil] } }),
        (
            "an error that was caught", "no property 'nmae'",
            { migration in _ = try? migration.create("Person") { $0["nmae"] = "" } }
        ),
    ]

    @Test("a failed change leaves everything as it was", arguments: failures.indices)
    func failing(_ index: Int) throws {
        let (what, words, fail) = Self.failures[index]
        let file = try file()
        let error = #expect(throws: (any Error).self, "\(what)") {
            try migrate(file, Split.models + [Split.Word.self]) { migration in
                try migration.enumerate("Person") { old, new in
                    if old["id"] as? Int == 2 { try migration.delete(new.reference) }
                    new[link: "home"] = try migration.create("Address") { $0["city"] = "\(old["id"]!)" }
                    new[links: "tags"] = [try migration.create("Tag")]
                }
                try fail(migration)
            }
        }
        #expect("\(error!)".contains(words), "\(what): \(error!)")
        try file.open(Flat.Person.self).read { connection in
            let people = try connection.objects(Flat.Person.self).sorted(by: \.id)
            #expect(
                people.map(\.city) == ["a", "b", "c", "a", "b", "c"]
                    && people.map { $0.boss?.id } == [nil, 0, 1, 2, 3, 4])
            #expect(people.map { $0.friends.count } == [5, 4, 3, 2, 1, 0] && Array(people[0].tags) == ["x", "y"])
        }
    }
}
