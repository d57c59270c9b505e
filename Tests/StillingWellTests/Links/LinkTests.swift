import Foundation
import Testing

@testable import StillingWell

@Suite("Links")
struct LinkTests {
    private func store() throws -> TestStore { try TestStore([Human.self, Dog.self]) }

    private func human(_ connection: Connection, _ id: Int) throws -> Human {
        try #require(try connection.object(Human.self, forPrimaryKey: id))
    }

    private func dog(_ connection: Connection, _ id: Int) throws -> Dog {
        try #require(try connection.object(Dog.self, forPrimaryKey: id))
    }

    @Test("lead to an object or to nil; an unstored object is stored with the link")
    func set() throws {
        let test = try store()
        try test.store.write { connection in
            let ada = Human(1, "Ada")
            let rex = Dog(1, owner: ada)
            #expect(rex.owner === ada)
            try connection.add(rex)
            #expect(ada.objectID != nil)
            #expect(rex.owner?.objectID == ada.objectID)
            try connection.add(Dog(2))
        }
        try test.store.read { connection in
            try #expect(dog(connection, 1).owner?.name == "Ada")
            try #expect(dog(connection, 2).owner == nil)
        }
        try test.store.write { connection in
            try dog(connection, 2).owner = Human(2, "Bob")
            try dog(connection, 1).owner = nil
        }
        try test.store.read { connection in
            try #expect(dog(connection, 1).owner == nil)
            try #expect(dog(connection, 2).owner?.id == 2)
        }
    }

    @Test("change as properties of their object: to null when the linked object is deleted")
    func propertyChange() throws {
        let test = try store()
        let ada = try test.store.write { connection in
            let rex = Dog(1, owner: Human(1, "Ada"))
            try connection.add(rex)
            return try #require(rex.owner?.objectID)
        }
        let feed = try Feed(test.store)
        var changes: [PropertyChange] = []
        feed.keep(
            try dog(feed.connection, 1).observe { change in
                if case .change(_, let properties) = change { changes += properties }
            })
        try test.store.write { try $0.delete(human($0, 1)) }
        try feed.catchUp()
        #expect(changes == [PropertyChange(name: "owner", oldValue: .link(ada), newValue: .null)])
    }

    @Test("an object of another connection, or one that was deleted, makes the write fail")
    func wrongTargets() throws {
        let test = try store()
        try test.store.write { try $0.add(Human(1)) }
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let elsewhere = try human(connection, 1)
        #expect(throws: StoreError.otherConnection(type: "Human")) {
            try test.store.write { try $0.add(Dog(1, owner: elsewhere)) }
        }
        #expect(throws: StoreError.invalidatedObject(table: "Human")) {
            try test.store.write { connection in
                let gone = try human(connection, 1)
                try connection.delete(gone)
                let rex = Dog(1)
                try connection.add(rex)
                rex.owner = gone
            }
        }
        try #expect(test.store.read { try $0.objects(Dog.self).count } == 0)
    }

    @Test("must lead to a model of the store")
    func unknownTarget() throws {
        #expect(throws: StoreError.self) { try TestStore([Dog.self]) }
        do {
            _ = try TestStore([Dog.self])
        } catch {
            #expect("\(error)".contains("add Human to Store.Configuration.models"))
        }
    }

    @Test("filters lead over links; a link that leads nowhere reads as nil")
    func paths() throws {
        let test = try store()
        try test.store.write { connection in
            let (ada, bob) = (Human(1, "Ada", age: 30), Human(2, "Bob", age: 40))
            ada.boss = bob
            try connection.add(Dog(1, owner: ada))
            try connection.add(Dog(2, owner: bob))
            try connection.add(Dog(3))
        }
        try test.store.read { connection in
            let dogs = try connection.objects(Dog.self)
            let bob = try human(connection, 2)
            #expect(dogs.where(\.owner?.name == "Ada").map(\.id) == [1])
            #expect(dogs.where(\.owner?.name != "Ada").map(\.id) == [2, 3])
            #expect(dogs.where(\.owner?.name == nil).map(\.id) == [3])
            #expect(dogs.where(\.owner?.name != nil).map(\.id) == [1, 2])
            #expect(dogs.where(\.owner?.age > 30).map(\.id) == [2])
            #expect(dogs.where(\.owner?.boss?.name == "Bob").map(\.id) == [1])
            #expect(dogs.where(\.owner?.boss == bob).map(\.id) == [1])
            #expect(dogs.where(\.owner?.boss == nil).map(\.id) == [2, 3])
            #expect(dogs.where(\.owner == bob).map(\.id) == [2])
            #expect(dogs.where(\.owner != nil).map(\.id) == [1, 2])
            let names: [String?] = ["Bob", nil]
            #expect(dogs.where((\Dog.owner?.name).in(names)).map(\.id) == [2, 3])
        }
    }
}
