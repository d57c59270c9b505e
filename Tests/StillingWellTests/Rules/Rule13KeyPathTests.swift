// Rule 13. Which changes count as modifications is every callback's own choice. In Realm all callbacks of a collection
// share one filter: adding one without a filter changes what the others are told.
import StillingWell
import Testing

@Suite("Rule 13: key-path filters hold per callback")
final class Rule13KeyPathTests: NoteSuite {
    init() throws { try super.init(4) }

    private func change(_ id: Int, _ body: @escaping (Note) -> Void) throws {
        try test.store.write { body(try #require(try $0.object(Note.self, forPrimaryKey: id))) }
        try feed.catchUp()
    }

    @Test("observers of one collection hear of different columns")
    func perCallback() throws {
        try feed.observe("title", notes, keyPaths: [\.title])
        try feed.observe("any", notes)
        try feed.observe("shallow", notes, keyPaths: [])
        try change(1) { $0.title = "x" }
        #expect(Set(feed.takeLog()) == ["title ~1>1", "any ~1>1"])
        try change(1) { $0.done = true }
        #expect(feed.takeLog() == ["any ~1>1"])
    }

    @Test("rows that come, go or move are told whatever the filter")
    func membership() throws {
        try feed.observe("shallow", notes, keyPaths: [])
        try change(0) { $0.score = 15 }
        #expect(feed.takeLog() == ["shallow -0 +1"])
        // The key changes, the place does not.
        try change(0) { $0.score = 16 }
        #expect(feed.takeLog() == [])
        try test.store.write { try $0.add(Note(id: 9, score: 99)) }
        try feed.catchUp()
        #expect(feed.takeLog() == ["shallow +4"])
    }

    @Test("a change that is not seen does not hide one that is")
    func mixed() throws {
        try feed.observe("title", notes, keyPaths: [\.title])
        try test.store.write {
            let note = try #require(try $0.object(Note.self, forPrimaryKey: 2))
            note.title = "x"
        }
        try change(2) { $0.score = 21 }
        #expect(feed.takeLog() == ["title ~2>2"])
    }

    @Test("results show the rows of an observed query, without evaluating it again")
    func shown() throws {
        try feed.observe("title", notes, keyPaths: [\.title])
        try change(0) { $0.score = 15 }
        #expect(notes.map(\.id) == [1, 0, 2, 3])
        try feed.connection.write { notes[0].score = 99 }
        #expect(notes.map(\.id) == [0, 2, 3, 1])
    }

    @Test("a row that left and came back between two deliveries is no modification to a shallow observer")
    func returned() throws {
        try feed.observe("shallow", notes.where(\.score < 25), keyPaths: [])
        for score in [99, 10] {
            try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 1)).score = score }
            // Upkeep sees it gone; the observer's connection does not turn.
            try Feed(test.store).catchUp()
        }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }

    /// Lets upkeep see each commit for itself; the observer's connection does not turn.
    private func commit(_ bodies: [(Note) -> Void]) throws {
        for body in bodies {
            try test.store.write { body(try #require(try $0.object(Note.self, forPrimaryKey: 1))) }
            try Feed(test.store).catchUp()
        }
    }

    @Test("a row that left and came back between two deliveries is one only if a named column was written meanwhile")
    func returnedByFilter() throws {
        try feed.observe("title", notes.where(\.done == false), keyPaths: [\.title])
        try commit([{ $0.done = true }, { $0.done = false }])
        try feed.catchUp()
        #expect(feed.takeLog() == [])
        // Inside, outside, and with what takes it out and in.
        for round in 0..<4 {
            try commit([
                { if round == 0 { $0.title = "" } },
                {
                    $0.done = true
                    if round == 1 { $0.title = "" }
                }, { if round == 2 { $0.title = "" } },
                {
                    $0.done = false
                    if round == 3 { $0.title = "" }
                }, { $0.weight = 1 },
            ])
            try feed.catchUp()
            #expect(feed.takeLog() == ["title ~1>1"], "round \(round)")
        }
    }

    @Test("one that left in one delivery and came back in another is an insertion, and then stays known")
    func returnedLater() throws {
        try feed.observe("title", notes.where(\.done == false), keyPaths: [\.title])
        try change(1) { $0.done = true }
        try change(1) { $0.done = false }
        try commit([{ $0.done = true }, { $0.done = false }])
        try feed.catchUp()
        #expect(feed.takeLog() == ["title -1", "title +1"])
    }

    @Test("a row that came silently, left in the same step of upkeep and came back is none: its observer has known it")
    func returnedAfterSilence() throws {
        let high = try feed.connection.objects(Note.self).where(\.score > 50)
        let token = try feed.observe("title", high, keyPaths: [\.title])
        let gate = try HeldUpkeep(test.store)
        func set(_ score: Int, title: String? = nil, silentFor tokens: [NotificationToken] = []) throws {
            try test.store.write(withoutNotifying: tokens) {
                let note = try #require(try $0.object(Note.self, forPrimaryKey: 1))
                note.score = score
                if let title { note.title = title }
            }
        }
        for (title, told) in [(nil, []), ("x", ["title ~0>0"])] {
            try gate.close()
            // What its observer knows it by from then on.
            try set(10, title: "w")
            try set(90, silentFor: [token])
            try set(10)
            try gate.open()
            try set(90, title: title)
            try feed.catchUp()
            #expect(feed.takeLog() == told)
            try set(10)
            try feed.catchUp()
            #expect(feed.takeLog() == ["title -0"])
        }
    }

    @Test("what is kept of a row that only passed goes with the query, and a later write finds nothing of it")
    func passedAndDropped() throws {
        try feed.observe("all", feed.connection.objects(Note.self))
        let high = try feed.connection.objects(Note.self).where(\.score > 50)
        let token = try feed.observe("high", high, keyPaths: [\.title])
        func set(_ score: Int, silentFor tokens: [NotificationToken] = []) throws {
            try test.store.write(withoutNotifying: tokens) {
                try #require(try $0.object(Note.self, forPrimaryKey: 1)).score = score
            }
        }
        try set(10)
        try feed.catchUp()
        let gate = try HeldUpkeep(test.store)
        try gate.close()
        try set(90, silentFor: [token])
        try set(10)
        try gate.open()
        token.invalidate()
        try set(20)
        try feed.catchUp()
        #expect(feed.takeLog().last == "all ~1>1")
    }

    @Test("a row that a linked object took out and brought back is none")
    func returnedByLink() throws {
        let test = try TestStore([Human.self, Dog.self])
        try test.store.write { try $0.add(Dog(0, owner: Human(1, "a", age: 5))) }
        let feed = try Feed(test.store)
        let dogs = try feed.connection.objects(Dog.self).where(\.owner!.age > 1)
        try feed.observe("breed", dogs, keyPaths: [\.breed])
        try feed.observe("name", dogs, keyPaths: [\.owner?.name])
        func human(_ body: @escaping (Human) -> Void) throws {
            try test.store.write { body(try #require(try $0.object(Human.self, forPrimaryKey: 1))) }
            try Feed(test.store).catchUp()
        }
        try human { $0.age = 0 }
        try human { $0.age = 5 }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
        try human { $0.age = 0 }
        try human { $0.name = "b" }
        try human { $0.age = 5 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["name ~0>0"])
    }
}
