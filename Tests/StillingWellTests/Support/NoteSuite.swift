// Set-up of many suites: a store with a few notes, and a connection whose deliveries the test makes by hand.
import StillingWell
import Testing

class NoteSuite {
    let test: TestStore
    let feed: Feed
    /// All notes by score.
    let notes: Results<Note>

    /// Adds `count` notes with ids from 0 on. Their scores are multiples of `scoreStep`.
    init(_ count: Int, durability: Durability = .relaxed, scoreStep: Int = 10) throws {
        test = try TestStore(durability: durability)
        try test.store.write { for id in 0..<count { try $0.add(Note(id: id, score: id * scoreStep)) } }
        feed = try Feed(test.store)
        notes = try feed.connection.objects(Note.self).sorted(by: \.score)
    }

    func note(_ id: Int, _ connection: Connection) throws -> Note {
        try #require(try connection.object(Note.self, forPrimaryKey: id))
    }
}
