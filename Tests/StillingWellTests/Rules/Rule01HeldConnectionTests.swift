// Rule 1 with `autorefresh` off. The connection stays at its version, and the initial callback comes at that version.
// Later commits are delivered when the connection advances.
import StillingWell
import Testing

@Suite("Rule 1: the initial callback comes without autorefresh too")
final class Rule01HeldConnectionTests: NoteSuite {
    init() throws {
        try super.init(3, durability: .memory)
        feed.connection.autorefresh = false
    }

    /// Makes three commits of different kinds, which the connection does not see.
    private func commit() throws {
        try test.store.write { other in
            try #require(try other.object(Note.self, forPrimaryKey: 0)).score = 15
            try other.delete(#require(try other.object(Note.self, forPrimaryKey: 2)))
        }
        try test.store.write { try $0.add(Note(id: 3, score: 5)) }
        try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 1)).title = "x" }
    }

    /// Observes and notes each callback, the initial one with its rows.
    private func observe(_ name: String, _ notes: Results<Note>, keyPaths: [PartialKeyPath<Note>]? = nil) throws {
        let body: (ResultsChange<Note>) -> Void = { [feed] change in
            guard case .initial(let rows) = change else { return feed.note("\(name) \(change.text)") }
            feed.note("\(name) \(rows.map(\.id))")
        }
        feed.keep(try keyPaths.map { try notes.observe(keyPaths: $0, body) } ?? notes.observe(body))
    }

    private func turn(until count: Int) throws { try feed.scheduler.turn { feed.log.count >= count } }

    @Test("the first observer's initial callback, if there is nothing newer")
    func nothingNewer() throws {
        try observe("notes", notes)
        try turn(until: 1)
        #expect(feed.takeLog() == ["notes [0, 1, 2]"])
        try commit()
        try feed.catchUp()
        #expect(feed.takeLog() == ["notes -0 -2 +0 +2 ~1>1"])
    }

    @Test("the initial callbacks of sections, lists and sequences")
    func otherKinds() async throws {
        let test = try TestStore([Human.self, Dog.self], durability: .memory)
        try test.write { connection in
            let human = Human(0, "a")
            human.friends = [Human(1, "b")]
            human.tags = ["x"]
            try connection.add(human)
        }
        let feed = try Feed(test.store)
        let humans = try feed.connection.objects(Human.self)
        let human = try #require(try feed.connection.object(Human.self, forPrimaryKey: 0))
        feed.connection.autorefresh = false
        try test.write { connection in
            let human = try #require(try connection.object(Human.self, forPrimaryKey: 0))
            human.name = "c"
            human.tags.append("y")
            human.friends.removeAll()
        }
        feed.keep(
            try humans.sectioned(by: \.name).observe {
                if case .initial(let sections) = $0 { feed.note("sections \(sections.keys)") }
            })
        feed.keep(try human.tags.observe { if case .initial(let tags) = $0 { feed.note("tags \(Array(tags))") } })
        feed.keep(
            try human.friends.observe { if case .initial(let list) = $0 { feed.note("friends \(list.map(\.id))") } })
        let withB = humans.where(.any(\.friends, \.name == "b"))
        let sequence = try withB.changes()
        feed.keep(try withB.observe { if case .initial(let humans) = $0 { feed.note("with b \(humans.map(\.id))") } })
        try feed.scheduler.turn { feed.log.count == 4 }
        #expect(Set(feed.takeLog()) == [#"sections ["a", "b"]"#, #"tags ["x"]"#, "friends [1]", "with b [0]"])
        var iterator = sequence.makeAsyncIterator()
        #expect(try await iterator.next()?.count == 1)
        try feed.catchUp()
        #expect(try await iterator.next()?.changes?.deletions == [0])
    }

    private func set(_ id: Int, _ title: String, silentFor tokens: [NotificationToken] = []) throws {
        try test.store.write(withoutNotifying: tokens) {
            try #require(try $0.object(Note.self, forPrimaryKey: id)).title = title
        }
    }

    @Test("each commit before the initial callback is suppressed for the observers that it names")
    func silentAmongOthers() throws {
        let gate = try HeldUpkeep(test.store)
        try gate.close()
        // The connection does not see this write.
        try set(0, "before")
        try observe("all", notes)
        let all = try #require(feed.lastToken)
        try observe("other", notes)
        try observe("title", notes, keyPaths: [\.title])
        let title = try #require(feed.lastToken)
        try observe("high", notes.where(\.score >= 10))
        let high = try #require(feed.lastToken)
        try set(1, "a", silentFor: [all, title])
        try set(1, "b", silentFor: [all, high])
        try set(2, "c", silentFor: [title, high])
        try set(2, "d")
        try set(2, "e", silentFor: [all])
        // A write of the connection, and one by which a row leaves.
        try feed.connection.write(withoutNotifying: [all, high]) {
            try feed.connection.delete(#require(try feed.connection.object(Note.self, forPrimaryKey: 0)))
        }
        try test.store.write(withoutNotifying: [high]) {
            try #require(try $0.object(Note.self, forPrimaryKey: 1)).score = 5
        }
        gate.letGo()
        try turn(until: 4)
        #expect(
            Set(feed.takeLog())
                == ["all [0, 1, 2]", "other [0, 1, 2]", "title [0, 1, 2]", "high [1, 2]"])
        try feed.catchUp()
        #expect(
            Set(feed.takeLog())
                == ["all ~0>0 ~1>1", "other -0 ~1>0 ~2>1", "title -0 ~1>0 ~2>1", "high ~0>0"])
    }

    @Test(
        "a suppressed commit before the initial callback has no effect after it, once the connection has advanced past it"
    )
    func movedOnBeforeInitial() throws {
        let gate = try HeldUpkeep(test.store)
        try gate.close()
        try observe("notes", notes)
        let silent = try #require(feed.lastToken)
        try test.store.write(withoutNotifying: [silent]) {
            try $0.delete(#require(try $0.object(Note.self, forPrimaryKey: 2)))
        }
        gate.letGo()
        try feed.catchUp()
        try set(1, "silent", silentFor: [silent])
        try turn(until: 1)
        #expect(feed.takeLog() == ["notes [0, 1]"])
        try set(0, "told")
        try feed.catchUp()
        #expect(feed.takeLog() == ["notes ~0>0"])
    }
}
