// Tests of linking objects as a property of the model.
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

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

    @Test("contain each object that links to this one, by a link or a list, once, in order of creation")
    func read() throws {
        try test.store.read { connection in
            let ada = try #require(try connection.object(Owner.self, forPrimaryKey: 1))
            #expect(ada.pets.map(\.id) == [0, 2, 4] && ada.pets.count == 3 && ada.pets[1].id == 2)
            #expect(ada.admirers.map(\.id) == [2])
            try #expect(ada.pets.results().where(\.id > 0).sorted(by: \.id, ascending: false).map(\.id) == [4, 2])
            #expect(ada.friends.isEmpty)
        }
    }

    @Test("change at once with own writes, and with deliveries for those of others")
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

    private func names(_ change: ObjectChange<Owner>) -> String {
        switch change {
        case .change(_, let changes): changes.map(\.name).joined(separator: " ")
        case .deleted: "deleted"
        case .error(let error): "\(error)"
        }
    }

    @Test("a change of them is told to observers of the object")
    func observed() throws {
        let feed = try Feed(test.store)
        let ada = try #require(try feed.connection.object(Owner.self, forPrimaryKey: 1))
        feed.keep(try ada.observe { feed.note(names($0)) })
        func told(_ body: @escaping (Owner, Owner, Results<Pet>) throws -> Void) throws -> [String] {
            try test.store.write { connection in
                let owners = try connection.objects(Owner.self)
                try body(owners[0], try #require(owners.last), connection.objects(Pet.self))
            }
            try feed.catchUp()
            return feed.takeLog()
        }
        #expect(try told { _, bob, pets in pets[0].owner = bob } == ["pets"])
        #expect(try told { ada, _, pets in pets[0].owner = ada } == ["pets"])
        #expect(try told { _, _, pets in pets[1].owner = nil } == [])
        #expect(try told { _, _, pets in pets[0].name = "Rex" } == [])
        #expect(try told { _, _, pets in try pets.connection.delete(pets[2]) } == ["pets"])
        #expect(try told { _, bob, _ in bob.friends.remove(at: 0) } == ["admirers"])
        let two = try told { ada, _, pets in
            pets[1].owner = ada
            ada.friends.append(ada)
        }
        #expect(two == ["friends pets admirers"])
        #expect(try told { _, bob, _ in try #require(bob.connection).delete(bob) } == ["admirers"])
        #expect(try told { ada, _, _ in try #require(ada.connection).delete(ada) } == ["deleted"])
    }

    @Test("observers by key paths are told of these alone, and not of a commit that is suppressed for them")
    func observedByKeyPaths() throws {
        let feed = try Feed(test.store)
        let ada = try #require(try feed.connection.object(Owner.self, forPrimaryKey: 1))
        let pets = feed.keep(try ada.observe(keyPaths: [\.pets]) { feed.note("pets: \(names($0))") })
        feed.keep(try ada.observe(keyPaths: [\.friends]) { feed.note("friends: \(names($0))") })
        feed.keep(try ada.observe(keyPaths: [\.id, \.admirers]) { feed.note("admirers: \(names($0))") })
        func change(_ body: (Owner, Owner, Pet) throws -> Void, silentFor tokens: [NotificationToken] = []) throws {
            try test.store.write(withoutNotifying: tokens) { connection in
                let owners = try connection.objects(Owner.self)
                try body(owners[0], owners[1], connection.objects(Pet.self)[0])
            }
            try feed.catchUp()
        }
        try change { _, bob, pet in pet.owner = bob }
        #expect(feed.takeLog() == ["pets: pets"])
        try change { ada, bob, pet in
            pet.owner = ada
            bob.friends.removeAll()
        }
        #expect(feed.takeLog().sorted() == ["admirers: admirers", "pets: pets"])
        try change({ _, bob, pet in pet.owner = bob }, silentFor: [pets])
        #expect(feed.takeLog() == [])
        pets.invalidate()
        try change { ada, bob, pet in
            pet.owner = ada
            bob.friends.append(ada)
            ada.friends.append(bob)
        }
        #expect(feed.takeLog().sorted() == ["admirers: admirers", "friends: friends"])
    }

    @Test("changes that are shown at the subscription are not told, later ones are: with upkeep behind, and ahead")
    func observedAheadAndBehind() throws {
        let feed = try Feed(test.store)
        let ada = try #require(try feed.connection.object(Owner.self, forPrimaryKey: 1))
        let bob = try #require(try feed.connection.object(Owner.self, forPrimaryKey: 2))
        let pet = try feed.connection.objects(Pet.self)[0]
        let upkeep = try HeldUpkeep(test.store)
        // Upkeep is at a version before a write that the observer's connection shows.
        try upkeep.close()
        try feed.connection.write { pet.owner = bob }
        feed.keep(try ada.observe { feed.note("ada \(names($0))") })
        try upkeep.open()
        try feed.catchUp()
        #expect(feed.takeLog() == [])
        // One step of upkeep contains the observer's start and a change.
        try upkeep.close()
        try feed.connection.write { pet.owner = ada }
        feed.keep(try bob.observe { feed.note("bob \(names($0))") })
        try feed.connection.write { pet.owner = bob }
        try upkeep.open()
        try feed.catchUp()
        #expect(feed.takeLog().contains("bob pets"))
        // Upkeep is at a version after a write that the observer's connection does not show.
        let late = try Feed(test.store)
        let shown = try #require(try late.connection.object(Owner.self, forPrimaryKey: 1))
        try test.store.write { try $0.objects(Pet.self)[0].owner = $0.objects(Owner.self)[0] }
        try feed.catchUp()
        late.keep(try shown.observe { late.note(names($0)) })
        try late.catchUp()
        #expect(late.takeLog() == ["pets"])
    }

    @Test("a commit of too many rows to be listed is told too")
    func observedWithoutLog() throws {
        let feed = try Feed(test.store)
        let ada = try #require(try feed.connection.object(Owner.self, forPrimaryKey: 1))
        let bob = try #require(try feed.connection.object(Owner.self, forPrimaryKey: 2))
        feed.keep(try ada.observe { feed.note("ada \(names($0))") })
        feed.keep(try bob.observe { feed.note("bob \(names($0))") })
        try test.store.write { connection in
            let ada = try connection.objects(Owner.self)[0]
            for id in 10..<ChangeLog.maxEntriesPerCommit + 20 { try connection.add(Pet(id, ada)) }
        }
        try feed.catchUp()
        #expect(feed.takeLog() == ["ada pets"])
    }

    @Test("every change of linking objects is told, and only to owners that a write touched", arguments: 0..<6)
    func observedHistories(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let feed = try Feed(test.store)
        let owners = try feed.connection.objects(Owner.self).map(\.self)
        for owner in owners { feed.keep(try owner.observe { feed.note("\(owner.id) \(names($0))") }) }
        for _ in 0..<40 {
            let before = owners.map { $0.pets.map(\.id) }
            var touched: Set<Int> = []
            for _ in 0..<1 + random.below(3) {
                try test.store.write { connection in
                    let id = random.below(8)
                    let known = try connection.object(Pet.self, forPrimaryKey: id)
                    if let owner = known?.owner { touched.insert(owner.id) }
                    if let known, random.oneIn(4) { return try connection.delete(known) }
                    let pet = known ?? Pet(id, nil)
                    if known == nil { try connection.add(pet) }
                    pet.owner = random.oneIn(3) ? nil : try connection.objects(Owner.self)[random.below(2)]
                    if let owner = pet.owner { touched.insert(owner.id) }
                }
            }
            try feed.catchUp()
            let told = Set(feed.takeLog())
            let changed = owners.indices.filter { owners[$0].pets.map(\.id) != before[$0] }.map { owners[$0].id }
            #expect(told.isSuperset(of: changed.map { "\($0) pets" }), "TIDEGAUGE_SEED=\(seed)")
            #expect(told.isSubset(of: touched.map { "\($0) pets" }), "TIDEGAUGE_SEED=\(seed)")
        }
    }

    @Test("a plain object has none; after a cancelled write it is a plain object again")
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
