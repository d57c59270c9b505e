// Tests of orders over links. (LinkHistoryTests has random histories.)
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
        // The owner's name and the boss's name are different sort keys, so neither replaces the other.
        #expect(
            dogs.sorted(by: [SortKey(\.owner?.boss?.name, ascending: false), SortKey(\.owner?.name)]).map(\.id)
                == [2, 1, 0, 3])
        #expect(dogs.where(\.owner?.age >= 30).sorted(by: \.owner?.age).map(\.id) == [0, 3, 2])
        #expect(dogs.sorted(by: \.owner?.name).min(\.id) == 0)
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
