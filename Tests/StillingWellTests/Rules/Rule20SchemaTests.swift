// Rule 20. Schema versions and migration blocks. The classes are versions of one model, so they share its name.
import CStillingWellLMDB
import Foundation
import StillingWellFixtures
import StillingWellTestThreads
import Testing

@testable import StillingWell
@testable import StillingWellTree

private enum First {
    final class Person: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Stored var age = 0
        @Stored var mail: String? = nil
        @Stored var tag = UUID()
    }
    final class Pet: StoredObject {
        @Stored var kind = ""
    }
}

/// Only additions, in another order.
private enum Added {
    final class Person: StoredObject {
        @Stored var nickname: String? = nil
        @Stored var tag = UUID()
        @Stored var height = 1.5
        @Stored(.primaryKey) var name = ""
        @Stored var mail: String? = nil
        @Stored var motto = "none"
        @Stored var age = 0
    }
}

/// `mail` and `tag` were removed.
private enum Fewer {
    final class Person: StoredObject {
        @Stored var age = 0
        @Stored(.primaryKey) var name = ""
    }
}

/// `age` is a text, `mail` is not optional, `tag` is optional, and `name` has become `fullName`.
private enum Changed {
    final class Person: StoredObject {
        @Stored var age = ""
        @Stored var mail = ""
        @Stored var tag: UUID? = nil
        @Stored(.primaryKey) var fullName = ""
    }
}

/// `age` is the primary key.
private enum Rekeyed {
    final class Person: StoredObject {
        @Stored var name = ""
        @Stored(.primaryKey) var age = 0
        @Stored var mail: String? = nil
        @Stored var tag = UUID()
    }
}

extension SchemaFile {
    /// Adds four people of 30 to 33 years, and four pets. The people of even age have mail.
    fileprivate func fill() throws {
        try open(First.Person.self, First.Pet.self).write { connection in
            for index in 0..<4 {
                let person = First.Person()
                person.name = "p\(index)"
                person.age = 30 + index
                person.mail = index % 2 == 0 ? "p\(index)@home" : nil
                person.tag = tags[index]
                try connection.add(person)
                try connection.add(First.Pet())
            }
        }
    }

    /// Checks that the rows are as `fill` wrote them.
    fileprivate func expectUntouched(_ comment: Comment? = nil) throws {
        try open(First.Person.self, First.Pet.self).read { connection in
            let people = try connection.objects(First.Person.self).sorted(by: \.name)
            #expect(people.map(\.name) == ["p0", "p1", "p2", "p3"], comment)
            #expect(people.map(\.age) == [30, 31, 32, 33], comment)
            #expect(people.map(\.mail) == ["p0@home", nil, "p2@home", nil], comment)
            #expect(people.map(\.tag) == tags, comment)
            #expect(try connection.object(First.Person.self, forPrimaryKey: "p2")?.age == 32, comment)
            #expect(try connection.objects(First.Pet.self).map(\.kind) == ["", "", "", ""], comment)
        }
    }
}

@Suite("Rule 20: schema versions and migration", .serialized, .onThreads)
struct Rule20SchemaTests {
    // MARK: Additive

    @Test("observers of a class in another order than the file's are told the right things")
    func observing() throws {
        let file = SchemaFile()
        try file.fill()
        let store = try file.open(Added.Person.self)
        let scheduler = ManualScheduler()
        let connection = try store.connect(on: .scheduler(scheduler))
        let seen = Watched<[ChangeSet]>([])
        let adults = try connection.objects(Added.Person.self).where(\.age > 31).sorted(by: \.name)
        let token = try adults.observe { change in
            if case .initial = change { seen.update { $0.append(ChangeSet()) } }
            if case .update(_, let changes) = change { seen.update { $0.append(changes) } }
        }
        try scheduler.turn { !seen.value.isEmpty }
        try store.write { try #require(try $0.object(Added.Person.self, forPrimaryKey: "p0")).age = 50 }
        try scheduler.turn { seen.value.count == 2 }
        #expect(seen.value[1] == ChangeSet(insertions: [0]) && adults.map(\.name) == ["p0", "p2", "p3"])
        try store.write { try #require(try $0.object(Added.Person.self, forPrimaryKey: "p2")).height = 2 }
        try scheduler.turn { seen.value.count == 3 }
        #expect(seen.value[2] == ChangeSet(modifications: [1], modificationsNew: [1]))
        token.invalidate()
    }

    // MARK: Refused

    @Test("the same version with another schema is refused with the differences and the remedy")
    func sameVersion() throws {
        let file = SchemaFile()
        try file.fill()
        let fewer = refusal { _ = try file.open(Fewer.Person.self) }
        #expect(fewer.contains("lacks 'mail' (optional string)") && fewer.contains("lacks 'tag' (uuid)"))
        #expect(fewer.contains("raise schemaVersion above 0"))
        let changed = refusal { _ = try file.open(Changed.Person.self) }
        #expect(changed.contains("'age' (int)") && changed.contains("'age' (string)"))
        #expect(changed.contains("migration block") && changed.contains("the primary key is 'name'"))
        #expect(
            refusal { _ = try file.open(Changed.Person.self, version: 3) }.contains("give Store.Configuration a mig"))
        #expect(refusal { _ = try file.open(First.Person.self, Fewer.Person.self) }.contains("two models"))
        try file.expectUntouched()
    }

    @Test("a file of a newer program is refused, by schema version and by format")
    func newer() throws {
        let file = SchemaFile()
        try file.fill()
        _ = try file.open(First.Person.self, First.Pet.self, version: 7)
        let error = #expect(throws: StoreError.self) { try file.open(First.Person.self, First.Pet.self, version: 6) }
        guard case .schemaTooNew(_, file: 7, configured: 6) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try file.setFormat(StoreSchema.currentFormat + 1, version: 7)
        #expect(refusal { _ = try file.open(First.Person.self, version: 8) }.contains("newer than this library's"))
    }

    @Test("a file of a format that is too old is refused")
    func oldFormat() throws {
        let file = SchemaFile()
        try file.fill()
        try file.setFormat(4)
        let text = refusal { _ = try file.open(First.Person.self, First.Pet.self) }
        #expect(text.contains("its format 4 is older than 5") && text.contains("with the library of commit 0f28f9de"))
    }

    @Test("opening with a higher version is refused at once while another process has the store open")
    func otherProcess() throws {
        let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let other = try FixtureProcess(path: path, .relaxed, ["observe"])
        try other.waitUntilReady()
        let raised = Store.Configuration(path: path, models: Batches.models, durability: .relaxed, schemaVersion: 1)
        let error = #expect(throws: StoreError.self) { try Store(raised) }
        #expect("\(error!)".contains("another process has it open: end that process"))
        _ = try Store(.init(path: path, models: Batches.models, durability: .relaxed))
        try other.killNow()
        _ = try Store(raised)
        // After the version was raised, the older program is refused.
        let late = try FixtureProcess(path: path, .relaxed, ["observe"])
        try late.waitForEnd()
        #expect(late.output.value.lines.isEmpty)
    }

    @Test("limits are stated where they are hit")
    func limits() throws {
        let columns = (0..<63).map { ColumnSchema(name: "old\($0)", type: .int, isOptional: false) }
        let stored = StoreSchema(tables: [TableSchema(id: 1, name: "Pet", columns: columns)])
        let change = try SchemaChange(
            stored, SchemaRequest(models: [ModelLayout.declaration(of: First.Pet.self)], version: 1))
        change.matchRest()
        try change.checkLimits()
        let full = StoreSchema(tables: [
            TableSchema(id: 1, name: "Pet", columns: columns + [ColumnSchema(name: "x", type: .int, isOptional: true)])
        ])
        let more = try SchemaChange(
            full, SchemaRequest(models: [ModelLayout.declaration(of: First.Pet.self)], version: 1))
        more.matchRest()
        let text = refusal { try more.checkLimits() }
        #expect(text.contains("65 stored properties of at most 64") && text.contains("64 of them hidden"))
        #expect(LMDB.error(MDB_DBS_FULL, "open", path: "") == .tooManyTables(limit: 512))
    }

    // MARK: With a higher version

    @Test("types, optionality, names and the primary key change in a migration block")
    func migration() throws {
        let file = SchemaFile()
        try file.fill()
        let store = try file.open(Changed.Person.self, First.Pet.self, version: 2) { migration in
            #expect(migration.oldVersion == 0 && migration.newVersion == 2)
            #expect(migration.tables.sorted() == ["Person", "Pet"])
            try migration.renameProperty(on: "Person", from: "name", to: "fullName")
            try migration.enumerate("Person") { old, new in
                let age = try #require(old["age"] as? Int)
                new["age"] = "\(age) years"
                if old["mail"] == nil { new["mail"] = "none" }
                if age == 31 { new["tag"] = nil }
                if old["name"] as? String == "p3" { new["fullName"] = "Mrs p3" }
            }
        }
        try store.read { connection in
            let people = try connection.objects(Changed.Person.self).sorted(by: \.fullName)
            #expect(people.map(\.fullName) == ["Mrs p3", "p0", "p1", "p2"])
            #expect(people.map(\.age) == ["33 years", "30 years", "31 years", "32 years"])
            #expect(people.map(\.mail) == ["none", "p0@home", "none", "p2@home"])
            #expect(people.map(\.tag) == [file.tags[3], file.tags[0], nil, file.tags[2]])
            #expect(try connection.object(Changed.Person.self, forPrimaryKey: "Mrs p3")?.age == "33 years")
            #expect(try connection.object(Changed.Person.self, forPrimaryKey: "p3") == nil)
        }
        #expect(try store.read { $0.version } == 2, "the migrated content has a version of its own")
    }

    @Test("another primary key gets its index, and finds objects")
    func primaryKey() throws {
        let file = SchemaFile()
        try file.fill()
        try file.open(Rekeyed.Person.self, version: 1) { _ in }.write { connection in
            #expect(try connection.object(Rekeyed.Person.self, forPrimaryKey: 31)?.name == "p1")
            let twin = Rekeyed.Person()
            twin.age = 33
            #expect(throws: StoreError.duplicatePrimaryKey(table: "Person", key: "33")) { try connection.add(twin) }
            let same = Rekeyed.Person()
            same.name = "p0"
            try connection.add(same)
        }
        #expect(throws: StoreError.duplicatePrimaryKey(table: "Person", key: "'p0'")) {
            try file.open(First.Person.self, version: 2) { _ in }
        }
    }

    @Test("a table is deleted, and its number is not given out again")
    func deleteTable() throws {
        let file = SchemaFile()
        try file.fill()
        _ = try file.open(First.Person.self, version: 1) { try $0.deleteTable("Pet") }
        let store = try file.open(First.Person.self, First.Pet.self, version: 1)
        #expect(try store.read { try $0.objects(First.Pet.self).count } == 0)
        #expect(Set(store.core.storage.tables.values.map(\.id)) == [1, 3])
        #expect(try store.read { try $0.objects(First.Person.self).count } == 4)
    }

    // MARK: Failing

    private struct Stop: Error {}

    /// Blocks that fail. `rollBack` makes changes before it runs one.
    private static let failures: [(String, @Sendable (Migration) throws -> Void)] = [
        ("an error of the block's own", { _ in throw Stop() }),
        ("no such table", { try $0.enumerate("Persona") { _, _ in } }),
        ("no such old property", { try $0.enumerate("Person") { old, _ in _ = old["nickname"] } }),
        ("no such new property", { try $0.enumerate("Person") { _, new in new["name"] = "x" } }),
        ("a value of the wrong type", { try $0.enumerate("Person") { _, new in new["age"] = 5 } }),
        ("null where there is none", { try $0.enumerate("Person") { _, new in new["mail"] = nil } }),
        ("the old row set", { try $0.enumerate("Person") { old, _ in old["age"] = 5 } }),
        ("renamed too late", { try $0.renameProperty(on: "Person", from: "tag", to: "mark") }),
        ("renamed to what there is", { try $0.renameProperty(on: "Pet", from: "kind", to: "kind") }),
        ("a key twice", { try $0.enumerate("Person") { _, new in new["fullName"] = "the same" } }),
        (
            "a key too long",
            { try $0.enumerate("Person") { _, new in new["fullName"] = String(repeating: "x", count: 512) } }
        ),
        ("a table of a model deleted", { try $0.deleteTable("Person") }),
        ("an error that was caught", { migration in try? migration.enumerate("Person") { _, new in new["age"] = 5 } }),
    ]

    @Test("a migration that fails leaves everything as it was", arguments: failures.indices)
    func rollBack(_ index: Int) throws {
        let (what, fail) = Self.failures[index]
        let file = SchemaFile()
        try file.fill()
        #expect(throws: (any Error).self, "\(what)") {
            try file.open(Changed.Person.self, First.Pet.self, version: 2) { migration in
                try migration.renameProperty(on: "Person", from: "name", to: "fullName")
                try migration.enumerate("Pet") { _, new in new["kind"] = "cat" }
                try migration.enumerate("Person") { old, new in
                    new["age"] = "changed"
                    if old["age"] as? Int == 30 { new["mail"] = "lost" }
                }
                try fail(migration)
            }
        }
        try file.expectUntouched("\(what)")
    }
}

extension SchemaFile {
    fileprivate func setFormat(_ format: Int, version: UInt64 = 0) throws {
        let storage = try open(First.Person.self, First.Pet.self, version: version).core.storage
        var transaction: LMDBTransaction?
        #expect(mdb_txn_begin(storage.environment, nil, 0, &transaction) == 0)
        var schema = try #require(try StoreSchema.read(transaction!, storage.meta, path: ""))
        schema.format = format
        try schema.write(transaction!, storage.meta, path: "")
        #expect(mdb_txn_commit(transaction) == 0)
    }
}
