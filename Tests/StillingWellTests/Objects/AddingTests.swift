// Tests of `add(update:)` and `create`: objects with an existing primary key, and objects made from dictionaries.
import Foundation
import Testing

@testable import StillingWell

@Suite("Adding existing objects")
struct AddingTests {
    private func store() throws -> TestStore {
        let test = try TestStore([Human.self, Dog.self, Note.self, LogLine.self])
        try test.store.write { connection in
            let (ada, bob) = (Human(1, "Ada", age: 36), Human(2, "Bob"))
            ada.boss = bob
            ada.tags.append(contentsOf: ["a", "b"])
            try connection.add([ada, bob])
            try connection.add(Note(id: 1, score: 5, title: "one"))
        }
        return test
    }

    /// Returns the number of modifications that a write causes for an observer of these key paths.
    private func modifications(
        _ test: TestStore, of keyPaths: [PartialKeyPath<Note>], by body: (Connection) throws -> Void
    ) throws -> Int {
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        var told: [ChangeSet?] = []
        let token = try connection.objects(Note.self).observe(keyPaths: keyPaths) { change in
            if case .update(_, let changes) = change { told.append(changes) } else { told.append(nil) }
        }
        defer { token.invalidate() }
        try scheduler.turn { told.count == 1 }
        try test.store.write { connection in
            try body(connection)
            // Adds a note, so that there is a delivery in any case.
            try connection.add(Note(id: 100 + (try connection.objects(Note.self).count)))
        }
        try scheduler.turn { told.count == 2 }
        return told[1]?.modifications.count ?? -1
    }

    @Test(
        "the stored object takes the new values, and the given object becomes bound to its row",
        arguments: [UpdatePolicy.modified, .all])
    func updates(_ policy: UpdatePolicy) throws {
        let test = try store()
        try test.store.write { connection in
            let old = try connection.objects(Note.self)[0]
            let note = Note(id: 1, score: 9)
            try connection.add(note, update: policy)
            #expect(note == old && note.objectID == old.objectID && old.score == 9 && old.title == "")
            note.title = "new"
            #expect(old.title == "new")
        }
        #expect(try test.store.read { try $0.objects(Note.self).map(\.title) } == ["new"])
    }

    @Test("observers are told of the changed properties only, or of every property")
    func told() throws {
        let test = try store()
        let same =
            { try $0.add(Note(id: 1, score: 5, title: "one"), update: $1) } as (Connection, UpdatePolicy) throws -> Void
        // The default values of `tag` differ from object to object.
        #expect(try modifications(test, of: [\.score, \.title]) { try same($0, .modified) } == 0)
        #expect(try modifications(test, of: [\.tag]) { try same($0, .modified) } == 1)
        #expect(try modifications(test, of: [\.score]) { try same($0, .all) } == 1)
        #expect(
            try modifications(test, of: [\.score]) {
                try $0.add(Note(id: 1, score: 6, title: "one"), update: .modified)
            } == 1)
    }

    @Test("links and lists take the place of the old ones, and what they lead to is updated too")
    func links() throws {
        let test = try store()
        try test.store.write { connection in
            let ada = Human(1, "Ada")
            ada.boss = Human(2, "Rob")
            ada.friends.append(contentsOf: [Human(2, "Robert"), Human(3, "Cy")])
            ada.tags.append("c")
            try connection.add(ada, update: .modified)
        }
        try test.store.read { connection in
            let humans = try connection.objects(Human.self).sorted(by: \.id)
            #expect(humans.map(\.id) == [1, 2, 3])
            #expect(humans[0].boss == humans[1] && humans[0].friends.map(\.id) == [2, 3])
            #expect(humans[1].name == "Robert" && Array(humans[0].tags) == ["c"])
        }
    }

    @Test("objects in a circle update each other")
    func circle() throws {
        let test = try store()
        try test.store.write { connection in
            let (ada, bob) = (Human(1, "Ada"), Human(2, "Bob"))
            (ada.boss, bob.boss) = (bob, ada)
            ada.friends.append(ada)
            try connection.add(ada, update: .modified)
        }
        try test.store.read { connection in
            let humans = try connection.objects(Human.self).sorted(by: \.id)
            #expect(humans.map { $0.boss?.id } == [2, 1] && humans[0].friends.map(\.id) == [1])
        }
    }

    @Test("an object without a primary key cannot be added as an update")
    func noKey() throws {
        let test = try store()
        try test.store.write { connection in
            #expect(throws: StoreError.noPrimaryKey(table: "LogLine")) {
                try connection.add(LogLine(), update: .modified)
            }
        }
        #expect(try test.store.read { try $0.objects(LogLine.self).isEmpty })
    }

    @Test("cancelled, the object is a plain one again with the values it had")
    func cancelled() throws {
        let test = try store()
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        let note = Note(id: 1, score: 9)
        try connection.beginWrite()
        try connection.add(note, update: .all)
        try connection.cancelWrite()
        #expect(note.objectID == nil && note.score == 9)
        #expect(try connection.objects(Note.self)[0].score == 5)
    }

    @Test("a list that another write has extended is replaced as a whole")
    func meanwhile() throws {
        let test = try store()
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        let ada = try #require(try connection.object(Human.self, forPrimaryKey: 1))
        #expect(ada.tags.count == 2)
        try test.store.write { try $0.object(Human.self, forPrimaryKey: 1)!.tags.append("z") }
        try connection.write {
            try connection.create(Human.self, value: ["id": 1, "tags": ["a", "x"]], update: .modified)
        }
        #expect(try test.store.read { Array(try $0.object(Human.self, forPrimaryKey: 1)!.tags) } == ["a", "x"])
    }

    // MARK: Of dictionaries

    @Test("a property that is not named has its default, or is not changed")
    func created() throws {
        let test = try store()
        try test.store.write { connection in
            let new = try connection.create(Note.self, value: ["id": 2, "weight": 3, "due": NSNull(), "group": 4])
            #expect(new.weight == 3.0 && new.due == nil && new.title == "" && new.group == 4)
            let old = try connection.create(Note.self, value: ["id": 1, "score": 6], update: .modified)
            #expect(old.score == 6 && old.title == "one")
            try connection.create(Note.self, value: ["id": 1, "group": nil as Int? as Any], update: .all)
            #expect(old.score == 6 && old.title == "one" && old.group == nil)
            #expect(try connection.create(LogLine.self).text == "")
        }
    }

    @Test("links and lists are created from dictionaries and from objects")
    func nested() throws {
        let test = try store()
        try test.store.write { connection in
            let bob = try #require(try connection.object(Human.self, forPrimaryKey: 2))
            let dog = try connection.create(
                Dog.self,
                value: [
                    "id": 1, "owner": ["id": 1, "friends": [bob, ["id": 3, "name": "Cy"]], "scores": [1, NSNull()]],
                ],
                update: .modified)
            let ada = try #require(dog.owner)
            #expect(ada.name == "Ada" && ada.boss == bob && Array(ada.tags) == ["a", "b"])
            #expect(ada.friends.map(\.name) == ["Bob", "Cy"] && Array(ada.scores) == [1, nil])
            try connection.create(Dog.self, value: ["id": 1, "owner": NSNull()], update: .modified)
            #expect(dog.owner == nil && dog.breed == nil)
        }
    }

    @Test("names and values that do not fit are named, and nothing is stored")
    func misfits() throws {
        let test = try store()
        let cases: [([String: Any], String)] = [
            (["id": 5, "nmae": ""], "Human.nmae cannot be set: Human has no such property: name one of 'id', 'name'"),
            (["id": "5"], "Human.id cannot be set: a value of type String was given; give a value of type Int"),
            (["id": 5, "age": NSNull()], "Human.age"), (["id": 5, "boss": 7], "Human.boss"),
            (["id": 5, "boss": ["id": 6, "boss": ["x": 1]]], "Human.boss.boss.x"),
            (["id": 5, "boss": Dog(1)], "Human.boss"), (["id": 5, "tags": "x"], "Human.tags"),
            (["id": 5, "tags": ["x", 1]], "Human.tags[1]"),
            (["id": 5, "friends": [["id": 1.5]]], "Human.friends[0].id"),
        ]
        for (value, named) in cases {
            let text = refusal {
                try test.store.write { _ = try $0.create(Human.self, value: value, update: .modified) as Human }
            }
            #expect(text.hasPrefix(named), "\(text)")
        }
        #expect(try test.store.read { try $0.objects(Human.self).count } == 2)
    }

    @Test("true and false of JSON are no numbers, also as the primary key of an object that is there")
    func truthValues() throws {
        let test = try store()
        func json(_ text: String) throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }
        for (text, named) in [
            (#"{"id": true, "name": "Eve"}"#, "Human.id"), (#"{"id": 7, "age": false}"#, "Human.age"),
            (#"{"id": 7, "scores": [1, true]}"#, "Human.scores[1]"),
        ] {
            let values = try json(text)
            let refused = refusal {
                try test.store.write { _ = try $0.create(Human.self, value: values, update: .all) as Human }
            }
            #expect(refused.hasPrefix("\(named) cannot be set: a value of type Bool was given"), "\(refused)")
        }
        for text in [#"{"id": 7, "weight": true}"#, #"{"id": 7, "group": true}"#] {
            let values = try json(text)
            _ = refusal { try test.store.write { _ = try $0.create(Note.self, value: values) as Note } }
        }
        let values = try json(#"{"id": 1, "weight": 2, "done": true, "score": 3.0}"#)
        try test.store.write { connection in
            #expect(try connection.object(Human.self, forPrimaryKey: 1)?.name == "Ada")
            let note = try connection.create(Note.self, value: values, update: .all)
            #expect(note.id == 1 && note.weight == 2 && note.done && note.score == 3)
        }
    }

    @Test("outside of a write it is refused")
    func outside() throws {
        let test = try store()
        try test.store.read { connection in
            #expect(throws: StoreError.notInWrite) { try connection.create(Note.self) }
            #expect(throws: StoreError.notInWrite) { try connection.add(Note(), update: .all) }
        }
    }
}
