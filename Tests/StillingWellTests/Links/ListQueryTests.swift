// Queries over the objects of a list. (Random histories of them are in LinkHistoryTests.)
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

    @Test("filters keep the order of the list, and what it has twice; orders fall back on it")
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
        #expect(old.sum(of: \.age) == 100 && old.max(of: \.age) == 40 && old.sorted(by: \.age).min(of: \.age) == 30)
        try #expect(friends.where(!Filter.all).isEmpty)
    }

    @Test("they follow the list, its objects, and what those lead to")
    func follows() throws {
        let old = try friends.where(\.age >= 30)
        try feed.observe("old", old)
        try feed.observe("by name", friends.sorted(by: \.name), keyPaths: [\.name])
        func change(_ body: (Connection) throws -> Void) throws -> [String] {
            try test.store.write(body)
            try feed.catchUp()
            return feed.takeLog()
        }
        try #expect(Set(change { try human(1, $0).age = 35 }) == ["old +1"])
        try #expect(Set(change { try human(3, $0).name = "z" }) == ["old ~0>0 ~3>3", "by name -1 -2 +2 +3"])
        #expect(old.map(\.id) == [3, 1, 4, 3])
        try #expect(Set(change { try human(0, $0).friends.remove(at: 0) }) == ["old -0", "by name -2"])
        try #expect(Set(change { try human(0, $0).friends.move(from: 2, to: 0) }).contains("old -2 +0"))
        #expect(old.map(\.id) == [3, 1, 4])
        // Somebody who is in no list, and is old.
        try #expect(change { try $0.add(Human(9, "n", age: 90)) } == [])
        try #expect(Set(change { try human(0, $0).friends.append(try human(9, $0)) }) == ["old +3", "by name +2"])
        try #expect(Set(change { try $0.delete(try human(9, $0)) }) == ["old -3", "by name -2"])
        try #expect(change { try $0.delete(try human(0, $0)) }.sorted() == ["by name -0 -1 -2", "old -0 -1 -2"])
    }

    @Test("own writes show at once; a loop that changes what it goes over meets every element once")
    func ownWrites() throws {
        let old = try friends.where(\.age >= 30).sorted(by: \.age, ascending: false)
        try feed.connection.write {
            try human(1, feed.connection).age = 50
            #expect(old.map(\.id) == [1, 4, 3, 3])
            friends.append(try human(2, feed.connection))
            try human(2, feed.connection).age = 45
            #expect(old.map(\.id) == [1, 2, 4, 3, 3])
            var met: [Int] = []
            for person in old where !person.isInvalidated {
                met.append(person.id)
                try feed.connection.delete(person)
            }
            #expect(met == [1, 2, 4, 3] && old.isEmpty && friends.isEmpty)
        }
    }

    @Test("frozen, and on another thread, they are the same objects")
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
