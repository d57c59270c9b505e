// Links from object to object: setting, deleting, the way back, and filters that lead over them.
import Foundation
import StillingWellSync
import Testing

@testable import StillingWell
@testable import StillingWellEngine

@Suite("Links")
struct LinkTests {
    private func store() throws -> TestStore { try TestStore([Human.self, Dog.self]) }

    private func human(_ connection: Connection, _ id: Int) throws -> Human {
        try #require(try connection.object(Human.self, forPrimaryKey: id))
    }

    private func dog(_ connection: Connection, _ id: Int) throws -> Dog {
        try #require(try connection.object(Dog.self, forPrimaryKey: id))
    }

    @Test("lead to objects, and to nothing; what is not stored is stored with them")
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

    @Test("may lead back to where they come from")
    func cycles() throws {
        let test = try store()
        try test.store.write { connection in
            let (a, b, c) = (Human(1), Human(2), Human(3))
            a.boss = b
            b.boss = c
            c.boss = a
            let own = Human(4)
            own.boss = own
            try connection.add(b)
            try connection.add(own)
        }
        try test.store.read { connection in
            let a = try human(connection, 1)
            #expect(a.boss?.id == 2 && a.boss?.boss?.id == 3 && a.boss?.boss?.boss?.id == 1)
            try #expect(human(connection, 4).boss?.id == 4)
        }
        try test.store.write { try $0.delete(human($0, 4)) }
        try test.store.write { try $0.delete(human($0, 2)) }
        try test.store.read { connection in
            try #expect(human(connection, 1).boss == nil)
            try #expect(human(connection, 3).boss?.id == 1)
        }
    }

    @Test("are gone when the object is, and that is a change of the objects that had them")
    func deleted() throws {
        let test = try store()
        try test.store.write { connection in
            let ada = Human(1, "Ada")
            for id in 0..<3 { try connection.add(Dog(id, owner: id == 1 ? nil : ada)) }
        }
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        var changes: [ChangeSet] = []
        let token = try connection.objects(Dog.self).observe {
            if case .update(_, let change) = $0 { changes.append(change) }
        }
        while try connection.objects(Dog.self).count == 0 { try scheduler.turn() }
        try scheduler.turn()
        try test.store.write { try $0.delete(human($0, 1)) }
        try scheduler.turn { !changes.isEmpty }
        #expect(changes.map(\.modifications) == [[0, 2]])
        try #expect(connection.objects(Dog.self).allSatisfy { $0.owner == nil })
        token.invalidate()
    }

    @Test("that lead elsewhere by now stay when what they led to before is deleted")
    func movedOn() throws {
        let test = try store()
        try test.store.write { connection in
            for id in 1...2 { try connection.add(Human(id)) }
            for id in 1...2 { try connection.add(Dog(id, owner: human(connection, 1))) }
        }
        try test.store.write { try dog($0, 1).owner = human($0, 2) }
        try test.store.read { connection in
            try #expect(human(connection, 1).linkingObjects(\Dog.owner).map(\.id) == [2])
            try #expect(human(connection, 2).linkingObjects(\Dog.owner).map(\.id) == [1])
        }
        try test.store.write { try $0.delete(human($0, 1)) }
        try test.store.read { connection in
            try #expect(dog(connection, 1).owner?.id == 2)
            try #expect(dog(connection, 2).owner == nil)
        }
    }

    @Test("change as properties of their object, from one id to another")
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

    @Test("the way back is a query like any other")
    func backlinks() throws {
        let test = try store()
        try test.store.write { connection in
            let (ada, bob) = (Human(1, "Ada"), Human(2, "Bob"))
            for id in 0..<6 { try connection.add(Dog(id, owner: id % 2 == 0 ? ada : bob)) }
            bob.friends.append(ada)
        }
        try test.store.write { connection in
            let ada = try human(connection, 1)
            let dogs = try ada.linkingObjects(\Dog.owner)
            #expect(dogs.map(\.id) == [0, 2, 4])
            try dog(connection, 2).owner = human(connection, 2)
            try dog(connection, 1).owner = ada
            #expect(dogs.map(\.id) == [0, 1, 4])
            #expect(dogs.where(\.id > 0).map(\.id) == [1, 4])
            try #expect(ada.linkingObjects(\Human.friends).map(\.id) == [2])
            try #expect(ada.linkingObjects(\Human.boss).isEmpty)
        }
        #expect(throws: StoreError.notStored(type: "Human")) { try Human(9).linkingObjects(\Dog.owner) }
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
            #expect(dogs.where((\Dog.owner?.name).isOne(of: names)).map(\.id) == [2, 3])
        }
    }

    @Test("a query over a link changes with the objects the link leads to")
    func livePath() throws {
        let test = try store()
        try test.store.write { connection in
            let ada = Human(1, "Ada")
            ada.boss = Human(2, "Bob")
            for id in 0..<3 { try connection.add(Dog(id, owner: id == 1 ? nil : ada)) }
        }
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let dogs = try connection.objects(Dog.self).where(\.owner?.boss?.name == "Bob")
        var ids: [Int] = []
        var changes: [ChangeSet] = []
        let token = try dogs.observe { change in
            if case .update(_, let changeSet) = change { changes.append(changeSet) }
            ids = dogs.map(\.id)
        }
        try scheduler.turn { ids == [0, 2] }
        try test.store.write { try human($0, 2).name = "Eve" }
        try scheduler.turn { ids == [] }
        #expect(changes.last?.deletions == [0, 1])
        // Own writes show at once, whichever object they are on.
        try connection.write {
            try human(connection, 2).name = "Bob"
            #expect(dogs.map(\.id) == [0, 2])
            try human(connection, 1).boss = nil
            #expect(dogs.isEmpty)
            try human(connection, 1).boss = human(connection, 2)
            try dog(connection, 2).owner = nil
            #expect(dogs.map(\.id) == [0])
        }
        #expect(dogs.map(\.id) == [0])
        try scheduler.turn { ids == [0] }
        token.invalidate()
    }
}
