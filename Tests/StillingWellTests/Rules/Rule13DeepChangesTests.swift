// Rule 13 for links. Without key paths, changes in linked objects count up to three links away. With key paths, only
// changes on those paths count, at any distance.
import StillingWell
import Testing

@Suite("Rule 13: changes in linked objects")
struct Rule13DeepChangesTests {
    private let test: TestStore
    private let feed: Feed

    init() throws {
        test = try TestStore([Human.self, Dog.self])
        feed = try Feed(test.store)
    }

    private func change(_ id: Int, _ body: @escaping (Human) throws -> Void) throws {
        try test.store.write { connection in
            try body(#require(try connection.object(Human.self, forPrimaryKey: id)))
        }
        try feed.catchUp()
    }

    /// Makes a chain of bosses: dog 0 → human 1 → 2 → 3 → 4 → 5. Dog 1 has no owner.
    private func makeChain() throws -> Results<Dog> {
        try test.store.write { connection in
            var boss: Human?
            for id in (1...5).reversed() {
                let human = Human(id)
                human.boss = boss
                boss = human
            }
            try connection.add(Dog(0, owner: boss))
            try connection.add(Dog(1))
        }
        return try feed.connection.objects(Dog.self)
    }

    @Test("count up to three links away, and no farther")
    func depth() throws {
        try feed.observe("dogs", makeChain())
        for id in 1...5 {
            try change(id) { $0.age = 50 }
            #expect(feed.takeLog() == (id <= 3 ? ["dogs ~0>0"] : []), "human \(id)")
        }
    }

    @Test("do not count with key paths, unless one of these leads to them, at any distance")
    func filtered() throws {
        let dogs = try makeChain()
        try feed.observe("own", dogs, keyPaths: [\.owner])
        try feed.observe("shallow", dogs, keyPaths: [])
        try feed.observe("named", dogs, keyPaths: [\.owner?.boss?.boss?.boss?.boss?.name])
        try change(5) { $0.age = 1 }
        try change(4) { $0.name = "4" }
        #expect(feed.takeLog() == [])
        try change(5) { $0.name = "5" }
        #expect(feed.takeLog() == ["named ~0>0"])
        try change(2) { $0.boss = nil }
        #expect(feed.takeLog() == ["named ~0>0"])
        try test.store.write { try $0.objects(Dog.self)[0].owner = nil }
        try feed.catchUp()
        #expect(Set(feed.takeLog()) == ["own ~0>0", "named ~0>0"])
    }
}
