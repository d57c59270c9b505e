// Rule 8 where changes in linked objects count: silence covers them too, and theirs only.
import StillingWell
import Testing

@Suite("Rule 8: a skipped commit is silent through links")
struct Rule08LinkedSkippingTests {
    private let test: TestStore
    private let feed: Feed
    private let dogs: Results<Dog>
    private var log: [String] { feed.takeLog() }

    init() throws {
        test = try TestStore([Human.self, Dog.self])
        try test.store.write { connection in
            let owner = Human(1)
            try connection.add(Dog(0, owner: owner))
            try connection.add(Dog(1, owner: owner))
            try connection.add(Dog(2))
        }
        feed = try Feed(test.store)
        dogs = try feed.connection.objects(Dog.self)
    }

    private func observe(_ name: String, _ dogs: Results<Dog>) throws -> NotificationToken {
        var isReady = false
        let token = try dogs.observe { [feed] change in
            if case .initial = change { isReady = true } else { feed.note("\(name) \(change.text)") }
        }
        try feed.scheduler.turn { isReady }
        return feed.keep(token)
    }

    private func human(_ connection: Connection) throws -> Human {
        try #require(try connection.object(Human.self, forPrimaryKey: 1))
    }

    @Test("a change in what rows lead to is silent")
    func linked() throws {
        let silent = try observe("silent", dogs)
        _ = try observe("loud", dogs)
        try test.store.write(withoutNotifying: [silent]) { try human($0).name = "x" }
        try feed.catchUp()
        #expect(log == ["loud ~0>0 ~1>1"])
        try test.store.write { try human($0).name = "y" }
        try feed.catchUp()
        #expect(Set(log) == ["silent ~0>0 ~1>1", "loud ~0>0 ~1>1"])
    }

    @Test("coalesced with somebody else's change of the same object it is told, of another one it is not")
    func coalesced() throws {
        let silent = try observe("silent", dogs)
        try test.store.write(withoutNotifying: [silent]) { try human($0).name = "x" }
        try test.store.write { try human($0).name = "y" }
        try feed.catchUp()
        #expect(log == ["silent ~0>0 ~1>1"])
        try test.store.write(withoutNotifying: [silent]) { try human($0).name = "z" }
        try test.store.write { try #require(try $0.object(Dog.self, forPrimaryKey: 2)).breed = "rex" }
        try feed.catchUp()
        #expect(log == ["silent ~2>2"])
    }

    @Test("so is a row that is written itself as well, and several silent commits in one delivery")
    func both() throws {
        let silent = try observe("silent", dogs)
        try test.store.write(withoutNotifying: [silent]) { try human($0).name = "x" }
        try test.store.write(withoutNotifying: [silent]) { connection in
            try human(connection).name = "y"
            try #require(try connection.object(Dog.self, forPrimaryKey: 1)).breed = "rex"
        }
        try feed.catchUp()
        #expect(log == [])
    }

    @Test("membership that changes with a linked object changes silently")
    func membership() throws {
        let silent = try observe("silent", dogs.where(\.owner?.name == "x"))
        try test.store.write(withoutNotifying: [silent]) { try human($0).name = "x" }
        try feed.catchUp()
        #expect(log == [])
        try test.store.write { try human($0).name = "y" }
        try feed.catchUp()
        #expect(log == ["silent -0 -1"])
    }
}
