// Tests of queries over the objects of a list. (LinkHistoryTests has random histories.)
import StillingWell
import Testing

@Suite("Queries over lists")
struct ListQueryTests {
    private let test: TestStore
    private let feed: Feed
    private let friends: List<Human>

    init() throws {
        test = try TestStore([Human.self, Dog.self])
        try test.store.write { connection in
            let people = (1...4).map { Human($0, ["", "d", "b", "c", "a"][$0], age: $0 * 10) }
            let owner = Human(0)
            for person in [people[2], people[0], people[3], people[2]] { owner.friends.append(person) }
            people[0].boss = people[3]
            for person in people { try connection.add(person) }
            try connection.add(owner)
        }
        feed = try Feed(test.store)
        friends = try #require(try feed.connection.object(Human.self, forPrimaryKey: 0)).friends
    }

    private func human(_ id: Int, _ connection: Connection) throws -> Human {
        try #require(try connection.object(Human.self, forPrimaryKey: id))
    }

    @Test("filters keep the order and the duplicates of the list; sorting uses its order for ties")
    func read() throws {
        #expect(friends.map(\.id) == [3, 1, 4, 3])
        try #expect(friends.where(\.age >= 30).map(\.id) == [3, 4, 3])
        try #expect(friends.sorted(by: \.name).map(\.id) == [4, 3, 3, 1])
        try #expect(
            friends.sorted(by: [SortKey(\.boss?.name, ascending: false), SortKey(\.age)]).map(\.id) == [1, 3, 3, 4])
        try #expect(friends.where(\.boss?.name == "a").map(\.id) == [1])
        try #expect(friends.where(!(\.boss?.name == "a")).map(\.id) == [3, 4, 3])
        try #expect(friends.where("age > 10 SORT(age DESC) LIMIT(2)").map(\.id) == [4, 3])
        let old = try friends.where(\.age >= 30)
        #expect(old.where(\.name == "c").limited(to: 1).map(\.id) == [3])
        #expect(try old.index(of: friends[2]) == 1 && old.index(of: friends[1]) == nil)
        #expect(old.objectIDs == old.map { $0.objectID } && old[1].name == "a")
        #expect(old.sum(\.age) == 100 && old.max(\.age) == 40 && old.sorted(by: \.age).min(\.age) == 30)
        try #expect(friends.where(!Filter.all).isEmpty)
    }

    @Test("frozen, they keep their objects; resolved from a reference, they have those of the newest version")
    func elsewhere() throws {
        let old = try friends.where(\.age >= 30)
        let frozen = try old.freeze()
        let reference = ThreadSafeReference(to: old)
        try test.store.write { try human(0, $0).friends.removeAll() }
        #expect(frozen.map { $0.id } == [3, 4, 3] && frozen.objectIDs == old.objectIDs)
        try test.store.read { try #expect($0.resolve(reference).isEmpty) }
        #expect(old.count == 3)
    }

    @Test("the list of a plain object cannot be queried, and says so")
    func plain() throws {
        #expect(throws: StoreError.notStored(type: "Human")) { _ = try Human(7).friends.where(\.age > 0) }
        #expect(throws: StoreError.notStored(type: "Human")) { _ = try Human(7).friends.sorted(by: \.age) }
        #expect(throws: StoreError.self) { _ = try friends.where("agee > 0") }
    }
}
