import Foundation
import Testing

@testable import StillingWell

/// Two stores in which the same number means different objects: human 1 is Ada in the first and Bob in the second.
private struct TwoStores {
    let a: TestStore
    let b: TestStore

    init() throws {
        a = try TestStore([Human.self, Dog.self])
        b = try TestStore([Human.self, Dog.self])
        for (store, name) in [(a.store, "Ada"), (b.store, "Bob")] {
            try store.write { connection in
                let human = Human(1, name)
                try connection.add(human)
                human.friends.append(human)
                try connection.add(Dog(1, owner: human))
            }
        }
    }

    /// Runs `body` with a human of the first store on a connection of the second store, outside of a write.
    func reading(_ body: (Human, Connection) throws -> Void) throws {
        try a.store.read { theirs in
            try b.store.read { try body(theirs.objects(Human.self)[0], $0) }
        }
    }

    /// Returns the error of a write in the second store with a human of the first. Checks names and links afterwards.
    func writing(_ body: (Human, Connection) throws -> Void) throws -> String {
        let text = try a.store.read { theirs in
            let ada = try theirs.objects(Human.self)[0]
            return refusal { try b.store.write { try body(ada, $0) } }
        }
        try b.store.read { connection in
            let humans = try connection.objects(Human.self)
            #expect(humans.map(\.name) == ["Bob"])
            #expect(humans[0].friends.map(\.name) == ["Bob"] && humans[0].boss == nil)
            #expect(try connection.objects(Dog.self).map { $0.owner?.name } == ["Bob"])
        }
        return text
    }

    func expectBothNamed(_ text: String, _ what: Comment) {
        #expect(text.contains(a.path) && text.contains(b.path), what)
    }
}

@Suite("Objects of another store")
struct ForeignObjectTests {
    @Test("a write with an object of another store fails, and names both")
    func writes() throws {
        let stores = try TwoStores()
        let changes: [(String, (Human, Connection) throws -> Void)] = [
            ("delete", { try $1.delete($0) }),
            ("add", { try $1.add($0) }),
            ("add what leads to it", { try $1.add(Dog(2, owner: $0)) }),
            (
                "add what has it in a list",
                { ada, connection in
                    let human = Human(2)
                    human.friends.append(ada)
                    try connection.add(human)
                }
            ),
            ("set a link", { try $1.objects(Dog.self)[0].owner = $0 }),
            ("append", { try $1.objects(Human.self)[0].friends.append($0) }),
            ("append several", { try $1.objects(Human.self)[0].friends.append(contentsOf: [$0]) }),
            ("insert", { try $1.objects(Human.self)[0].friends.insert($0, at: 0) }),
            ("replace", { try $1.objects(Human.self)[0].friends[0] = $0 }),
            ("set a list", { try $1.objects(Human.self)[0].friends = [$0] }),
            ("count in a write", { _ = try $1.objects(Dog.self).where(\.owner == $0).count }),
        ]
        for (name, change) in changes {
            stores.expectBothNamed(try stores.writing(change), "\(name)")
        }
    }

    @Test("a query that names an object of another store is refused, and names both")
    func queries() throws {
        let stores = try TwoStores()
        let scheduler = ManualScheduler()
        let connection = try stores.b.store.connect(on: .scheduler(scheduler))
        try stores.a.store.read { theirs in
            let ada = try theirs.objects(Human.self)[0]
            let dogs = try connection.objects(Dog.self)
            let humans = try connection.objects(Human.self)
            func check<Object>(_ name: Comment, _ results: @autoclosure () throws -> Results<Object>) {
                stores.expectBothNamed(refusal { _ = try results().observe { _ in } }, name)
                stores.expectBothNamed(refusal { _ = try results().observe(keyPaths: []) { _ in } }, name)
                stores.expectBothNamed(refusal { _ = try results().freeze() }, name)
            }
            check("==", dogs.where(\.owner == ada))
            check("!=", dogs.where(\.owner != ada))
            check("over a link", dogs.where(\.owner?.boss == ada))
            check("contains", humans.where((\Human.friends).contains(ada)))
            check("any", humans.where(.any(\.friends, \.boss == ada)))
            check("in a disjunction", dogs.where(\.id == 1 || !(\.owner == ada)))
            check("refined", dogs.where(\.owner == ada).where(\.id == 1).sorted(by: \.id).limited(to: 1))
            check("of a list", try humans[0].friends.where(\.boss == ada))
            let refused = dogs.where(\.owner == ada)
            stores.expectBothNamed(refusal { _ = try refused.sectioned(by: \.id).observe { _ in } }, "sections")
            stores.expectBothNamed(refusal { _ = try refused.changes() }, "sequence")
            let texts = ["owner == $0", "owner != $0", "$0 == owner", "owner IN {$0}", "owner.boss == $0"]
            for text in texts { check("\(text)", try dogs.where(text, ada)) }
            for text in ["$0 IN friends", "ANY friends == $0", "SELF == $0", "boss.friends == $0"] {
                check("\(text)", try humans.where(text, ada))
            }
        }
    }

    @Test("reading such a query on a live connection stops the program with a message that names both")
    func stopping() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stores = try TwoStores()
            let connection = try stores.b.store.connect(on: .scheduler(ManualScheduler()))
            try stores.a.read { theirs in
                let ada = try theirs.objects(Human.self)[0]
                _ = try connection.objects(Dog.self).where(\.owner == ada).count
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            text.contains("belongs to the store at") && text.components(separatedBy: "stillingwell-test-").count == 3)
    }

    @Test("a read block that reads such a query ends with the error")
    func readBlocks() throws {
        let stores = try TwoStores()
        let text = refusal {
            try stores.reading { ada, connection in
                let dogs = try connection.objects(Dog.self)
                #expect(dogs.where(\.owner == ada).isEmpty)
            }
        }
        stores.expectBothNamed(text, "count")
    }

    @Test("asking for the index or path of an object of another store is an error that names both stores")
    func places() throws {
        let stores = try TwoStores()
        try stores.reading { ada, connection in
            let humans = try connection.objects(Human.self)
            stores.expectBothNamed(refusal { _ = try humans.index(of: ada) }, "index")
            stores.expectBothNamed(refusal { _ = try humans.sectioned(by: \.age).path(of: ada) }, "path")
            stores.expectBothNamed(refusal { _ = try humans[0].friends.index(of: ada) }, "list")
        }
    }

    @Test("references, frozen objects and frozen results of another store are refused with an error that names both")
    func references() throws {
        let stores = try TwoStores()
        let connection = try stores.b.store.connect(on: .scheduler(ManualScheduler()))
        let theirs = try stores.a.store.connect(on: .scheduler(ManualScheduler()))
        let humans = try theirs.objects(Human.self)
        let object = try ThreadSafeReference(to: humans[0])
        let results = ThreadSafeReference(to: humans)
        let frozen = try humans[0].freeze()
        let collection = try humans.freeze()
        stores.expectBothNamed(refusal { _ = try connection.resolve(object) }, "object")
        stores.expectBothNamed(refusal { _ = try connection.resolve(results) }, "results")
        stores.expectBothNamed(refusal { _ = try frozen.thaw(on: connection) }, "frozen object")
        stores.expectBothNamed(refusal { _ = try collection.thaw(on: connection) }, "frozen results")
        stores.expectBothNamed(
            refusal { try stores.b.store.write { try $0.delete(frozen.object) } }, "frozen, to delete")
        stores.expectBothNamed(refusal { try stores.b.store.write { try $0.add(frozen.object) } }, "frozen, to add")
    }

    @Test("two stores on one path are one store: frozen objects and those of another connection belong to both")
    func samePath() throws {
        let test = try TestStore([Human.self, Dog.self])
        let other = try Store(.init(path: test.path, models: [Human.self, Dog.self], durability: .relaxed))
        try test.store.write { connection in
            try connection.add(Human(1, "Ada"))
            try connection.add(Dog(1, owner: connection.objects(Human.self)[0]))
        }
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        let ada = try connection.objects(Human.self)[0]
        let frozen = try ada.freeze()
        try other.read { reading in
            for human in [ada, frozen.object] {
                let dogs = try reading.objects(Dog.self)
                #expect(dogs.where(\.owner == human).count == 1)
                #expect(try dogs.where("owner == $0", human).count == 1)
                #expect(try reading.objects(Human.self).index(of: human) == 0)
            }
        }
        try other.write { writing in
            try writing.add(ada)
            #expect(refusal { try writing.delete(frozen.object) } == "\(StoreError.frozen)")
            try writing.delete(ada)
        }
        #expect(try other.read { try $0.objects(Human.self).isEmpty })
    }

    @Test("adding a deleted object is an error; adding one that is there already changes nothing")
    func deleted() throws {
        let test = try TestStore([Human.self, Dog.self])
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        let ada = Human(1, "Ada")
        try connection.write { try connection.add(ada) }
        try connection.write { try connection.add(ada) }
        #expect(try connection.objects(Human.self).count == 1)
        try connection.write { try connection.delete(ada) }
        let text = refusal { try connection.write { try connection.add(ada) } }
        #expect(text == "\(StoreError.invalidatedObject(table: "Human"))")
    }

    @Test("a query as text takes objects of the right class only")
    func otherClass() throws {
        let test = try TestStore([Human.self, Dog.self])
        try test.store.write { connection in
            let ada = Human(1, "Ada")
            ada.friends.append(ada)
            try connection.add(Dog(1, owner: ada))
        }
        try test.store.read { connection in
            let dog = try connection.objects(Dog.self)[0]
            for text in ["owner == $0", "owner != $0", "owner IN {$0}"] {
                let reason = refusal { _ = try connection.objects(Dog.self).where(text, dog) }
                #expect(reason.contains("Human") && reason.contains("Dog"), "\(text): \(reason)")
                let plain = refusal { _ = try connection.objects(Dog.self).where(text, Dog(7)) }
                #expect(plain.contains("Human") && plain.contains("Dog"), "\(text): \(plain)")
            }
            for text in ["SELF == $0", "$0 IN friends", "ANY friends == $0", "NONE friends.boss == $0"] {
                let reason = refusal { _ = try connection.objects(Human.self).where(text, dog) }
                #expect(reason.contains("Human") && reason.contains("Dog"), "\(text): \(reason)")
            }
            // Linking objects over a link to humans are refused for a dog.
            let reason = refusal { _ = try dog.linkingObjects(\Dog.owner) }
            #expect(reason.contains("Human") && reason.contains("Dog"), "\(reason)")
            let list = refusal { _ = try dog.linkingObjects(\Human.friends) }
            #expect(list.contains("Human") && list.contains("Dog"), "\(list)")
        }
    }

    @Test("a link leads to objects of its class, not of a class that inherits from it and has a table of its own")
    func subclass() throws {
        let test = try TestStore([Being.self, Giant.self, Pet.self])
        try test.store.write { connection in
            try connection.add(Being())
            let pet = Pet()
            pet.owner = try connection.objects(Being.self)[0]
            try connection.add(pet)
        }
        let text = refusal {
            try test.store.write { connection in
                let giant = Giant()
                try connection.add(giant)
                try connection.objects(Pet.self)[0].owner = giant
            }
        }
        #expect(text.contains("Giant") && text.contains("Being"), "\(text)")
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        try connection.write { try connection.add(Giant()) }
        let giant = try connection.objects(Giant.self)[0]
        let pets = try connection.objects(Pet.self)
        let query = refusal { _ = try pets.where(\.owner == giant).observe { _ in } }
        #expect(query.contains("Giant") && query.contains("Being"), "\(query)")
        #expect(try connection.objects(Being.self).index(of: giant) == nil)
    }
}

private class Being: StoredObject {
    @Stored var name = ""
}

private final class Giant: Being {
    @Stored var height = 0
}

private final class Pet: StoredObject {
    @Linked var owner: Being?
}
