// Rule 7 where filters and orders lead over links: an own write to a linked object shows at once in every row that leads
// to it and is shown here already, whether it came by a delivery or by an own write; and in nobody else's.
import StillingWell
import Testing

@Suite("Rule 7: own writes show over links at once")
struct Rule07LinkedOwnWritesTests {
    private let test: TestStore
    private let feed: Feed
    private let dogs: Results<Dog>
    private var connection: Connection { feed.connection }

    init() throws {
        test = try TestStore([Human.self, Dog.self], durability: .memory)
        try test.store.write { connection in
            for id in 0..<3 { try connection.add(Human(id)) }
        }
        feed = try Feed(test.store)
        dogs = try feed.connection.objects(Dog.self)
    }

    private func human(_ id: Int) throws -> Human {
        try #require(try connection.object(Human.self, forPrimaryKey: id))
    }

    @Test("in rows of an earlier commit of one's own", arguments: [true, false])
    func earlierCommit(_ isObserved: Bool) throws {
        let old = dogs.where(\.owner!.age > 1)
        if isObserved { try feed.observe("old", old) }
        #expect(old.isEmpty)
        try connection.write { try connection.add(Dog(0, owner: human(0))) }
        #expect(old.isEmpty)
        try connection.write { try human(0).age = 5 }
        #expect(old.map(\.id) == [0])
        try connection.write { try human(0).age = 1 }
        #expect(old.isEmpty)
    }

    @Test("in orders over links, within one block")
    func order() throws {
        let sorted = dogs.sorted(by: \.owner?.age)
        try connection.write {
            try connection.add(Dog(0, owner: human(0)))
            try connection.add(Dog(1, owner: human(1)))
            #expect(sorted.map(\.id) == [0, 1])
            try human(0).age = 5
            #expect(sorted.map(\.id) == [1, 0])
            try human(1).age = 6
            #expect(sorted.map(\.id) == [0, 1])
        }
        #expect(sorted.map(\.id) == [0, 1])
    }

    @Test("in filters over lists, within one block and after it")
    func lists() throws {
        let humans = try connection.objects(Human.self).where(.any(\.friends, \.age > 1))
        try connection.write {
            let new = Human(7)
            new.friends = try [human(0), human(1)]
            try connection.add(new)
            #expect(humans.isEmpty)
            try human(1).age = 5
            #expect(humans.map(\.id) == [7])
        }
        try connection.write { try human(1).age = 0 }
        #expect(humans.isEmpty)
        try connection.write { try human(0).age = 5 }
        #expect(humans.map(\.id) == [7])
    }

    @Test("not in rows that somebody else has committed")
    func others() throws {
        let old = dogs.where(\.owner!.age > 1)
        #expect(old.isEmpty)
        try test.store.write { other in
            try other.add(Dog(0, owner: try other.object(Human.self, forPrimaryKey: 0)))
        }
        try connection.write { try human(0).age = 5 }
        #expect(old.isEmpty)
        try feed.catchUp()
        #expect(old.map(\.id) == [0])
    }
}
