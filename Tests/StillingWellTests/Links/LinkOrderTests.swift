// Orders over links: they follow what the links lead to. (Random histories of them are in LinkHistoryTests.)
import StillingWell
import Testing

@Suite("Orders over links")
struct LinkOrderTests {
    private let test: TestStore
    private let feed: Feed
    private let dogs: Results<Dog>

    init() throws {
        test = try TestStore([Human.self, Dog.self])
        try test.store.write { connection in
            let (ada, bob) = (Human(1, "Ada", age: 40), Human(2, "Bob", age: 30))
            ada.boss = bob
            try connection.add(Dog(0, owner: bob))
            try connection.add(Dog(1))
            try connection.add(Dog(2, owner: ada))
            try connection.add(Dog(3, owner: bob))
        }
        feed = try Feed(test.store)
        dogs = try feed.connection.objects(Dog.self)
    }

    private func human(_ id: Int, _ connection: Connection) throws -> Human {
        try #require(try connection.object(Human.self, forPrimaryKey: id))
    }

    @Test("a link that leads nowhere is nil; ties are in order of earlier keys, then of creation")
    func read() {
        #expect(dogs.sorted(by: \.owner?.name).map(\.id) == [1, 2, 0, 3])
        #expect(dogs.sorted(by: \.owner?.name, ascending: false).map(\.id) == [0, 3, 2, 1])
        #expect(dogs.sorted(by: \.id, ascending: false).sorted(by: \.owner?.name).map(\.id) == [1, 2, 3, 0])
        #expect(dogs.sorted(by: \.owner?.boss?.name).map(\.id) == [0, 1, 3, 2])
        // The name of the owner is not that of the boss: neither replaces the other.
        #expect(
            dogs.sorted(by: [SortKey(\.owner?.boss?.name, ascending: false), SortKey(\.owner?.name)]).map(\.id)
                == [2, 1, 0, 3])
        #expect(dogs.where(\.owner?.age >= 30).sorted(by: \.owner?.age).map(\.id) == [0, 3, 2])
        #expect(dogs.sorted(by: \.owner?.name).min(of: \.id) == 0)
    }

    @Test("written as text it is the same order, and errors say where the text is wrong")
    func text() throws {
        try #expect(dogs.where("SORT(owner.name, id DESC)").map(\.id) == [1, 2, 3, 0])
        try #expect(dogs.where("owner.age > 0 SORT(owner.boss.name DESC, owner.name ASC)").map(\.id) == [2, 0, 3])
        for (text, reason) in [
            ("SORT(owner)", "name a property with a value"), ("SORT(owner.friends)", "'friends' of Human is a list"),
            ("SORT(owner.friends.age)", "reached over one"), ("SORT(owner.friends.@count)", "name a property"),
            ("SORT(owner.nam)", "name"),
        ] {
            let error = #expect(throws: StoreError.self) { _ = try dogs.where(text) }
            #expect(error.map { "\($0)" }?.contains(reason) == true, "\(text): \(error.map { "\($0)" } ?? "")")
        }
    }

    @Test("the order follows the objects that links lead to, whoever observes what")
    func follows() throws {
        let byName = dogs.sorted(by: \.owner?.name)
        try feed.observe("all", byName)
        try feed.observe("shallow", byName, keyPaths: [])
        try feed.observe("id", byName, keyPaths: [\.id])
        try feed.observe("two", byName.limited(to: 2))
        try test.store.write { try human(1, $0).name = "Zoe" }
        try feed.catchUp()
        #expect(byName.map(\.id) == [1, 0, 3, 2])
        let log = feed.takeLog()
        for line in ["all -1 +3", "shallow -1 +3", "id -1 +3", "two -1 +1"] { #expect(log.contains(line), "\(log)") }
        // A change of the linked object that the order does not see is a modification, or nothing, as without an order.
        try test.store.write { try human(1, $0).age = 1 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["all ~3>3"])
        // The link itself, and the object at its end, may go.
        try test.store.write { try $0.delete(try human(2, $0)) }
        try feed.catchUp()
        #expect(byName.map(\.id) == [0, 1, 3, 2])
    }

    @Test("own writes show at once, whichever object they are on, and go with a write that is cancelled")
    func ownWrites() throws {
        struct Stop: Error {}
        let byBoss = dogs.sorted(by: \.owner?.boss?.name).sorted(by: \.owner?.name)
        try feed.observe("dogs", byBoss)
        #expect(throws: Stop.self) {
            try feed.connection.write {
                try human(2, feed.connection).name = "Aaa"
                #expect(byBoss.map(\.id) == [1, 0, 3, 2])
                try human(1, feed.connection).name = ""
                #expect(byBoss.map(\.id) == [1, 2, 0, 3])
                throw Stop()
            }
        }
        #expect(byBoss.map(\.id) == [1, 2, 0, 3])
        try feed.connection.write { try human(2, feed.connection).name = "Aaa" }
        #expect(byBoss.map(\.id) == [1, 0, 3, 2])
        try feed.catchUp()
        #expect(feed.takeLog().count == 1 && byBoss.map(\.id) == [1, 0, 3, 2])
    }

    @Test("a silent commit that changes the order is silent, and others are told from where it left the rows")
    func silent() throws {
        let byName = dogs.sorted(by: \.owner?.name)
        let silent = try feed.observe("silent", byName)
        try feed.observe("loud", byName)
        try test.store.write(withoutNotifying: [silent]) { try human(1, $0).name = "Zoe" }
        try feed.catchUp()
        #expect(feed.takeLog() == ["loud -1 +3"] && byName.map(\.id) == [1, 0, 3, 2])
        try test.store.write { try human(1, $0).name = "Ada" }
        try feed.catchUp()
        #expect(feed.takeLog() == ["silent -3 +1", "loud -3 +1"])
    }

    @Test("frozen and passed on, the order is the same")
    func frozen() throws {
        let byName = dogs.sorted(by: \.owner?.name)
        let frozen = try byName.freeze()
        let reference = ThreadSafeReference(to: byName)
        try test.store.write { try human(1, $0).name = "Zoe" }
        #expect(frozen.map { $0.id } == [1, 2, 0, 3])
        try test.store.read { try #expect($0.resolve(reference).map(\.id) == [1, 0, 3, 2]) }
    }
}
