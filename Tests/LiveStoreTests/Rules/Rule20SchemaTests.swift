// Rule 20: a schema version and a migration block; additive changes need none; a failed migration rolls back; a newer
// file is refused with a clear error. The classes are versions of one model, so they have one name.
import CLMDB
import Foundation
import LiveStoreFixtures
import Testing

@testable import LiveStore

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

/// Nothing but additions, and another order.
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

/// Lacks `mail` and `tag`.
private enum Fewer {
    final class Person: StoredObject {
        @Stored var age = 0
        @Stored(.primaryKey) var name = ""
    }
}

/// `age` is a text, `mail` is not optional, `tag` is, and what was `name` is `fullName`.
private enum Changed {
    final class Person: StoredObject {
        @Stored var age = ""
        @Stored var mail = ""
        @Stored var tag: UUID? = nil
        @Stored(.primaryKey) var fullName = ""
    }
}

/// `tag` is the primary key.
private enum Rekeyed {
    final class Person: StoredObject {
        @Stored var name = ""
        @Stored(.primaryKey) var age = 0
        @Stored var mail: String? = nil
        @Stored var tag = UUID()
    }
}

private enum Linked1 {
    final class Owner: StoredObject {
        @Stored var name = ""
        @Listed var dogs: List<Dog>
        @Listed var tags: List<String>
    }
    final class Dog: StoredObject {
        @Stored var name = ""
        @Linked var owner: Owner?
        @Stored var age = 0
    }
}

/// Another order; `owner` is `master`, and `tags` are `labels`.
private enum Linked2 {
    final class Owner: StoredObject {
        @Listed var labels: List<String>
        @Listed var dogs: List<Dog>
        @Stored var name = ""
    }
    final class Dog: StoredObject {
        @Stored var age = 0
        @Linked var master: Owner?
        @Stored var color = ""
        @Stored var name = ""
    }
}

/// Without links and lists.
private enum Linked3 {
    final class Owner: StoredObject {
        @Stored var name = ""
    }
    final class Dog: StoredObject {
        @Stored var name = ""
        @Stored var age = 0
    }
}

/// `tags` are numbers.
private enum Linked4 {
    final class Owner: StoredObject {
        @Stored var name = ""
        @Listed var dogs: List<Dog>
        @Listed var tags: List<Int>
    }
    final class Dog: StoredObject {
        @Stored var name = ""
        @Linked var owner: Owner?
        @Stored var age = 0
    }
}

private enum Indexed {
    final class Counter: StoredObject {
        @Stored(.primaryKey) var name = ""
        @Stored(.indexed) var value = 0
    }
}

@Suite("Rule 20: schema versions and migration", .serialized)
struct Rule20SchemaTests {
    /// A file that is opened again and again, by one version of a program after another.
    private final class File {
        let path = NSTemporaryDirectory() + "livestore-test-\(UUID().uuidString)"
        let tags = (0..<4).map { _ in UUID() }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func open(
            _ models: StoredObject.Type..., version: UInt64 = 0,
            migration: (@Sendable (Migration) throws -> Void)? = nil
        ) throws -> Store {
            try Store(
                .init(
                    path: path, models: models, durability: .relaxed, schemaVersion: version, migration: migration))
        }

        /// Four people, of 30 to 33 years; those of even age have mail.
        func fill() throws {
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

        /// That everything is as `fill` has left it.
        func expectUntouched(_ comment: Comment? = nil) throws {
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

    private func message(_ body: () throws -> Void) -> String {
        let error = #expect(throws: StoreError.self) { try body() }
        return error.map { "\($0)" } ?? ""
    }

    // MARK: Additive

    @Test("new properties anywhere in the class, and another order of it, need nothing")
    func additive() throws {
        let file = File()
        try file.fill()
        let store = try file.open(Added.Person.self, First.Pet.self)
        try store.write { connection in
            let people = try connection.objects(Added.Person.self).sorted(by: \.age, ascending: false)
            #expect(people.map(\.age) == [33, 32, 31, 30] && people.map(\.tag) == file.tags.reversed())
            #expect(people.allSatisfy { $0.height == 0 && $0.motto == "" && $0.nickname == nil })
            #expect(people.where(\.age >= 31 && \.mail != nil).map(\.name) == ["p2"])
            #expect(people.where((\Added.Person.name).isOne(of: ["p1", "p3"])).count == 2)
            #expect(try people.where("age > 31 AND mail != NULL SORT(age)").map(\.name) == ["p2"])
            #expect(people.limited(to: 2).distinct(by: [\.mail]).map(\.name) == ["p3", "p2"])
            #expect(people.max(of: \.age) == 33)
            people[0].motto = "go"
            people[0].nickname = "three"
            people[0].age += 10
            let new = Added.Person()
            new.name = "p4"
            new.height = 1.8
            new.mail = "p4@home"
            try connection.add(new)
            #expect(new.height == 1.8 && new.mail == "p4@home" && new.age == 0 && new.motto == "none")
        }
        try store.read { connection in
            let people = try connection.objects(Added.Person.self).sorted(by: [
                SortKey(\.height, ascending: false), SortKey(\.age),
            ])
            #expect(people.map(\.name) == ["p4", "p0", "p1", "p2", "p3"])
            let third = try #require(try connection.object(Added.Person.self, forPrimaryKey: "p3"))
            #expect(third.motto == "go" && third.nickname == "three" && third.age == 43 && third.tag == file.tags[3])
        }
        #expect(throws: StoreError.self, "a model with another schema version, in the same process") {
            try file.open(Added.Person.self, First.Pet.self, version: 1)
        }
    }

    @Test("observers of a class in another order than the file's are told the right things")
    func observing() throws {
        let file = File()
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
        let file = File()
        try file.fill()
        let fewer = message { _ = try file.open(Fewer.Person.self) }
        #expect(fewer.contains("lacks 'mail' (optional string)") && fewer.contains("lacks 'tag' (uuid)"))
        #expect(fewer.contains("raise schemaVersion above 0"))
        let changed = message { _ = try file.open(Changed.Person.self) }
        #expect(changed.contains("'age' (int)") && changed.contains("'age' (string)"))
        #expect(changed.contains("migration block") && changed.contains("the primary key is 'name'"))
        #expect(
            message { _ = try file.open(Changed.Person.self, version: 3) }.contains("give Store.Configuration a mig"))
        #expect(message { _ = try file.open(First.Person.self, Fewer.Person.self) }.contains("two models"))
        try file.expectUntouched()
    }

    @Test("a file of a newer program is refused, by schema version and by format")
    func newer() throws {
        let file = File()
        try file.fill()
        _ = try file.open(First.Person.self, First.Pet.self, version: 7)
        let error = #expect(throws: StoreError.self) { try file.open(First.Person.self, First.Pet.self, version: 6) }
        guard case .schemaTooNew(_, file: 7, configured: 6) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        do {
            let storage = try file.open(First.Person.self, First.Pet.self, version: 7).core.storage
            var transaction: LMDBTransaction?
            #expect(mdb_txn_begin(storage.environment, nil, 0, &transaction) == 0)
            var schema = try #require(try StoreSchema.read(transaction!, storage.meta, path: ""))
            schema.format += 1
            try schema.write(transaction!, storage.meta, path: "")
            #expect(mdb_txn_commit(transaction) == 0)
        }
        #expect(message { _ = try file.open(First.Person.self, version: 8) }.contains("newer than this library's"))
    }

    @Test("a higher version waits for nobody: it is refused while another process has the store open")
    func otherProcess() throws {
        let path = NSTemporaryDirectory() + "livestore-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let other = try FixtureProcess(path: path, .relaxed, ["observe"])
        try other.waitUntilReady()
        let raised = Store.Configuration(path: path, models: Batches.models, durability: .relaxed, schemaVersion: 1)
        let error = #expect(throws: StoreError.self) { try Store(raised) }
        #expect("\(error!)".contains("another process has it open: end that process"))
        _ = try Store(.init(path: path, models: Batches.models, durability: .relaxed))
        try other.killNow()
        _ = try Store(raised)
        // Once it has been raised, the older program is the one that is refused.
        let late = try FixtureProcess(path: path, .relaxed, ["observe"])
        try late.waitForEnd()
        #expect(late.output.value.lines.isEmpty)
    }

    @Test("limits are stated where they are hit")
    func limits() throws {
        let columns = (0..<63).map { ColumnSchema(name: "old\($0)", type: .int, isOptional: false) }
        let stored = StoreSchema(tables: [TableSchema(id: 1, name: "Pet", columns: columns)])
        let change = try SchemaChange(stored, SchemaRequest(models: [First.Pet.self], version: 1))
        change.matchRest()
        try change.checkLimits()
        let full = StoreSchema(tables: [
            TableSchema(id: 1, name: "Pet", columns: columns + [ColumnSchema(name: "x", type: .int, isOptional: true)])
        ])
        let more = try SchemaChange(full, SchemaRequest(models: [First.Pet.self], version: 1))
        more.matchRest()
        let text = message { try more.checkLimits() }
        #expect(text.contains("65 stored properties of at most 64") && text.contains("64 of them hidden"))
        #expect(LMDB.error(MDB_DBS_FULL, "open", path: "") == .tooManyTables(limit: 512))
    }

    // MARK: With a higher version

    @Test("a property that is gone is hidden with a higher version, and comes back with its values")
    func hidden() throws {
        let file = File()
        try file.fill()
        do {
            let store = try file.open(Fewer.Person.self, version: 1)
            try store.write { connection in
                let people = try connection.objects(Fewer.Person.self).sorted(by: \.name)
                #expect(people.map(\.age) == [30, 31, 32, 33])
                people[3].age = 99
                let new = Fewer.Person()
                new.name = "p4"
                try connection.add(new)
            }
        }
        let store = try file.open(First.Person.self, version: 2)
        try store.read { connection in
            let people = try connection.objects(First.Person.self).sorted(by: \.name)
            #expect(people.map(\.mail) == ["p0@home", nil, "p2@home", nil, nil])
            #expect(people.prefix(4).map(\.tag) == file.tags && people.map(\.age) == [30, 31, 32, 99, 0])
        }
    }

    @Test("types, optionality, names and the primary key change in a migration block")
    func migration() throws {
        let file = File()
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
        let file = File()
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
        let file = File()
        try file.fill()
        _ = try file.open(First.Person.self, version: 1) { try $0.deleteTable("Pet") }
        let store = try file.open(First.Person.self, First.Pet.self, version: 1)
        #expect(try store.read { try $0.objects(First.Pet.self).count } == 0)
        #expect(Set(store.core.storage.tables.values.map(\.id)) == [1, 3])
        #expect(try store.read { try $0.objects(First.Person.self).count } == 4)
    }

    // MARK: Links

    @Test("links and lists survive another order, a new name and being hidden, and lead back all the while")
    func links() throws {
        let file = File()
        try file.open(Linked1.Owner.self, Linked1.Dog.self).write { connection in
            let ada = Linked1.Owner()
            let rex = Linked1.Dog()
            (ada.name, rex.name, rex.owner, rex.age) = ("Ada", "Rex", ada, 3)
            let pup = Linked1.Dog()
            (pup.name, pup.owner) = ("Pup", ada)
            ada.dogs.append(contentsOf: [pup, rex, pup])
            ada.tags.append(contentsOf: ["a", "b"])
            try connection.add(ada)
            try connection.add(rex)
        }
        func check(_ store: Store, dogs: [String]) throws {
            try store.read { connection in
                let found = try connection.objects(Linked2.Dog.self)
                #expect(found.where(\.master?.name == "Ada").map(\.name).sorted() == ["Pup", "Rex"])
                #expect(found.where(\.master?.name == "Bob").isEmpty)
                let owners = try connection.objects(Linked2.Owner.self)
                #expect(owners.where(.any(\.dogs, \.age > 2)).count == (dogs.contains("Rex") ? 1 : 0))
                #expect(owners.where((\Linked2.Owner.dogs).sum(\.age) >= 3).count == 1)
                let ada = try #require(owners.first)
                #expect(ada.dogs.map(\.name) == dogs)
                #expect(ada.labels.map { $0 } == ["a", "b"])
                #expect(try ada.linkingObjects(\Linked2.Dog.master).map(\.name).sorted() == ["Pup", "Rex"])
                #expect(try #require(found.where(\.name == "Rex").first).linkingObjects(\Linked2.Owner.dogs).count == 1)
            }
        }
        do {
            let renamed = try file.open(Linked2.Owner.self, Linked2.Dog.self, version: 1) { migration in
                try migration.renameProperty(on: "Dog", from: "owner", to: "master")
                try migration.renameProperty(on: "Owner", from: "tags", to: "labels")
                try migration.enumerate("Dog") { _, new in if new["name"] as? String == "Pup" { new["age"] = 1 } }
            }
            try check(renamed, dogs: ["Pup", "Rex", "Pup"])
        }
        // Hidden, links are kept true: what is deleted meanwhile is gone from lists and links.
        do {
            let hidden = try file.open(Linked3.Owner.self, Linked3.Dog.self, version: 2)
            try hidden.write { connection in
                let pup = try #require(try connection.objects(Linked3.Dog.self).where(\.name == "Pup").first)
                try connection.delete(pup)
                let next = Linked3.Dog()
                next.name = "Pup"
                try connection.add(next)
            }
        }
        let again = try file.open(Linked2.Owner.self, Linked2.Dog.self, version: 3)
        try again.write { connection in
            #expect(try connection.objects(Linked2.Owner.self).first?.dogs.map(\.name) == ["Rex"])
            let dogs = try connection.objects(Linked2.Dog.self)
            let pup = try #require(dogs.where(\.name == "Pup").first)
            #expect(pup.master == nil && dogs.where(\.master != nil).map(\.name) == ["Rex"])
            pup.master = try connection.objects(Linked2.Owner.self).first
        }
        try check(again, dogs: ["Rex"])
    }

    @Test("a list of something else needs a block, and begins empty; the old one can be gone through")
    func otherList() throws {
        let file = File()
        try file.open(Linked1.Owner.self, Linked1.Dog.self).write { connection in
            let ada = Linked1.Owner()
            ada.tags.append(contentsOf: ["1", "2"])
            try connection.add(ada)
        }
        let text = message { _ = try file.open(Linked4.Owner.self, Linked4.Dog.self, version: 1) }
        #expect(text.contains("the list 'tags' holds 'value' (string)"), "\(text)")
        let seen = Watched<[String]>([])
        let store = try file.open(Linked4.Owner.self, Linked4.Dog.self, version: 1) { migration in
            try migration.enumerate("Owner.tags") { old, _ in
                seen.update { $0.append(old["value"] as? String ?? "") }
            }
        }
        #expect(seen.value == ["1", "2"])
        try store.write { connection in
            let owner = try #require(try connection.objects(Linked4.Owner.self).first)
            #expect(owner.tags.isEmpty)
            owner.tags.append(5)
        }
        #expect(try store.read { try $0.objects(Linked4.Owner.self).first?.tags.map { $0 } } == [5])
    }

    @Test("a new link or index is refused while another process, which would not keep it, has the store open")
    func newIndexElsewhere() throws {
        let path = NSTemporaryDirectory() + "livestore-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let other = try FixtureProcess(path: path, .relaxed, ["observe"])
        try other.waitUntilReady()
        let configuration = Store.Configuration(path: path, models: [Indexed.Counter.self], durability: .relaxed)
        #expect(message { _ = try Store(configuration) }.contains("'Counter.value' is new, with a link or an index"))
        try other.killNow()
        _ = try Store(configuration)
    }

    // MARK: Failing

    private struct Stop: Error {}

    /// Each fails after it has changed something.
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
        let file = File()
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

    // MARK: Any sequence of versions

    @Test("whatever sequence of models opens a file, each property has what was last written to it")
    func sequences() throws {
        var random = SeededRandom(seed: SeededRandom.base)
        for round in 0..<12 {
            let place: Comment = "round \(round), TIDEGAUGE_SEED=\(SeededRandom.base)"
            let path = NSTemporaryDirectory() + "livestore-test-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: path) }
            // By key, then by property.
            var model: [Int: [String: Int?]] = [:]
            for version in 0..<8 {
                let shape = Shapes.all[random.below(Shapes.all.count)]
                let store = try Store(
                    .init(
                        path: path, models: [shape.model], durability: .relaxed, schemaVersion: UInt64(version),
                        migration: { _ in }))
                try store.write { connection in
                    for _ in 0..<random.below(12) {
                        let key = random.below(20)
                        var values: [String: Int?] = [:]
                        for name in shape.names where random.oneIn(2) {
                            values[name] = name == "o" && random.oneIn(3) ? .some(nil) : random.below(1_000)
                        }
                        try shape.set(connection, key, values)
                        model[key, default: [:]].merge(values) { $1 }
                    }
                }
                let expected = model.mapValues { row in
                    Dictionary(
                        uniqueKeysWithValues: shape.names.map { ($0, (row[$0] ?? nil) ?? ($0 == "o" ? nil : 0)) })
                }
                #expect(try store.read { try shape.all($0) } == expected, place)
            }
        }
    }
}

/// Models of one name with some of the properties a to d and o, in any order.
private protocol Shape: StoredObject {
    static var paths: [String: ReferenceWritableKeyPath<Self, Int>] { get }
    static var optional: ReferenceWritableKeyPath<Self, Int?>? { get }
    var key: Int { get set }
}

private struct AnyShape {
    let model: StoredObject.Type
    let names: [String]
    let set: (Connection, Int, [String: Int?]) throws -> Void
    let all: (Connection) throws -> [Int: [String: Int?]]

    init<S: Shape>(_ shape: S.Type) {
        model = shape
        names = shape.paths.keys.sorted() + (shape.optional == nil ? [] : ["o"])
        set = { connection, key, values in
            var found = try connection.object(S.self, forPrimaryKey: key)
            if found == nil {
                let new = S()
                new.key = key
                try connection.add(new)
                found = new
            }
            for (name, value) in values {
                if name == "o" {
                    found![keyPath: S.optional!] = value
                } else {
                    found![keyPath: S.paths[name]!] = value!
                }
            }
        }
        all = { connection in
            var rows: [Int: [String: Int?]] = [:]
            for object in try connection.objects(S.self) {
                var row: [String: Int?] = S.paths.mapValues { object[keyPath: $0] }
                if let optional = S.optional { row["o"] = .some(object[keyPath: optional]) }
                rows[object.key] = row
            }
            return rows
        }
    }
}

private enum Shapes {
    static var all: [AnyShape] {
        [AnyShape(A.Thing.self), AnyShape(B.Thing.self), AnyShape(C.Thing.self), AnyShape(D.Thing.self)]
    }

    enum A {
        final class Thing: StoredObject, Shape {
            @Stored(.primaryKey) var key = 0
            @Stored var a = 0
            @Stored var b = 0
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["a": \.a, "b": \.b] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { nil }
        }
    }
    enum B {
        final class Thing: StoredObject, Shape {
            @Stored var o: Int? = nil
            @Stored var b = 0
            @Stored(.primaryKey) var key = 0
            @Stored var c = 0
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["b": \.b, "c": \.c] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { \.o }
        }
    }
    enum C {
        final class Thing: StoredObject, Shape {
            @Stored var d = 0
            @Stored(.primaryKey) var key = 0
            @Stored var a = 0
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["a": \.a, "d": \.d] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { nil }
        }
    }
    enum D {
        final class Thing: StoredObject, Shape {
            @Stored var c = 0
            @Stored var d = 0
            @Stored var o: Int? = nil
            @Stored var a = 0
            @Stored(.primaryKey) var key = 0
            static var paths: [String: ReferenceWritableKeyPath<Thing, Int>] { ["a": \.a, "c": \.c, "d": \.d] }
            static var optional: ReferenceWritableKeyPath<Thing, Int?>? { \.o }
        }
    }
}
