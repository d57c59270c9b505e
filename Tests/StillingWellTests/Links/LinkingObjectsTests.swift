// The way back along links as a property of the model.
import Foundation
import StillingWell
import Testing

private final class Owner: StoredObject {
    @Stored(.primaryKey) var id = 0
    @LinkingObjects(\Pet.owner) var pets: Backlinks<Pet>
    @LinkingObjects(\Owner.friends) var admirers: Backlinks<Owner>
    @Listed var friends: List<Owner>

    convenience init(_ id: Int) {
        self.init()
        self.id = id
    }
}

private final class Pet: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var name = ""
    @Linked var owner: Owner?

    convenience init(_ id: Int, _ owner: Owner?) {
        self.init()
        self.id = id
        self.owner = owner
    }
}

@Suite("Linking objects as a property")
struct LinkingObjectsTests {
    private let test: TestStore

    init() throws {
        test = try TestStore([Owner.self, Pet.self])
        try test.store.write { connection in
            let (ada, bob) = (Owner(1), Owner(2))
            for id in 0..<5 { try connection.add(Pet(id, id % 2 == 0 ? ada : bob)) }
            bob.friends.append(ada)
            bob.friends.append(ada)
        }
    }

    @Test("are what leads here by a link or a list, once each, in order of creation")
    func read() throws {
        try test.store.read { connection in
            let ada = try #require(try connection.object(Owner.self, forPrimaryKey: 1))
            #expect(ada.pets.map(\.id) == [0, 2, 4] && ada.pets.count == 3 && ada.pets[1].id == 2)
            #expect(ada.admirers.map(\.id) == [2])
            try #expect(ada.pets.results().where(\.id > 0).sorted(by: \.id, ascending: false).map(\.id) == [4, 2])
            // No column of their own.
            #expect(ada.friends.isEmpty)
        }
    }

    @Test("change with the links: at once by own writes, and by deliveries")
    func live() throws {
        let feed = try Feed(test.store)
        let ada = try #require(try feed.connection.object(Owner.self, forPrimaryKey: 1))
        let bob = try #require(try feed.connection.object(Owner.self, forPrimaryKey: 2))
        var isReady = false
        let token = try ada.pets.observe { change in
            if case .initial = change { isReady = true } else { feed.note(change.text) }
        }
        feed.keep(token)
        try feed.scheduler.turn { isReady }
        let pets = ada.pets
        try feed.connection.write {
            pets[0].owner = bob
            #expect(pets.map(\.id) == [2, 4] && bob.pets.map(\.id) == [0, 1, 3])
            bob.friends.removeAll()
            #expect(ada.admirers.isEmpty)
        }
        try feed.catchUp()
        #expect(feed.takeLog() == ["-0"])
        try test.store.write { try #require(try $0.object(Pet.self, forPrimaryKey: 4)).name = "Rex" }
        #expect(pets.map(\.name) == ["", ""])
        try feed.catchUp()
        #expect(feed.takeLog() == ["~1>1"] && pets.map(\.name) == ["", "Rex"])
    }

    @Test("of a plain object are none; added in a write that is cancelled, it is a plain one again")
    func plain() throws {
        struct Stop: Error {}
        let owner = Owner(9)
        #expect(owner.pets.isEmpty && owner.pets.map(\.id) == [])
        #expect(throws: StoreError.notStored(type: "Owner")) { _ = try owner.pets.results() }
        #expect(throws: StoreError.notStored(type: "Owner")) { _ = try owner.pets.observe { _ in } }
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        #expect(throws: Stop.self) {
            try connection.write {
                try connection.add(owner)
                try connection.add(Pet(9, owner))
                #expect(owner.pets.map(\.id) == [9])
                throw Stop()
            }
        }
        #expect(owner.pets.isEmpty)
        try connection.write {
            try connection.add(Owner(10))
            try connection.add(owner)
            #expect(owner.pets.isEmpty)
            try connection.add(Pet(11, owner))
        }
        #expect(owner.pets.map(\.id) == [11])
    }

    @Test("observing where nothing can be delivered is an error, as for any query")
    func noScheduler() throws {
        try test.store.read { connection in
            let ada = try #require(try connection.object(Owner.self, forPrimaryKey: 1))
            #expect(throws: StoreError.noScheduler) { _ = try ada.pets.observe { _ in } }
        }
    }
}
