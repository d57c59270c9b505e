// Rule 13. Each callback chooses which changes count as modifications. In Realm all callbacks of a collection share one
// filter, so adding a callback without a filter changes what the others receive.
import StillingWell
import Testing

@Suite("Rule 13: key-path filters hold per callback")
final class Rule13KeyPathTests: NoteSuite {
    init() throws { try super.init(4) }

    private func change(_ id: Int, _ body: @escaping (Note) -> Void) throws {
        try test.store.write { body(try #require(try $0.object(Note.self, forPrimaryKey: id))) }
        try feed.catchUp()
    }

    @Test("observers of one collection observe different columns")
    func perCallback() throws {
        try feed.observe("title", notes, keyPaths: [\.title])
        try feed.observe("any", notes)
        try feed.observe("shallow", notes, keyPaths: [])
        try change(1) { $0.title = "x" }
        #expect(Set(feed.takeLog()) == ["title ~1>1", "any ~1>1"])
        try change(1) { $0.done = true }
        #expect(feed.takeLog() == ["any ~1>1"])
    }

    @Test("results that are observed with key paths show changes that are not on them")
    func shown() throws {
        try feed.observe("title", notes, keyPaths: [\.title])
        try change(0) { $0.score = 15 }
        #expect(notes.map(\.id) == [1, 0, 2, 3])
        try feed.connection.write { notes[0].score = 99 }
        #expect(notes.map(\.id) == [0, 2, 3, 1])
    }

    @Test("what was kept for a row of a query ends with the query; other observers are told of a later write")
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
}
