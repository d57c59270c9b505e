// Rule 8. Notifications are suppressed for the named tokens and that commit only. Realm also suppresses other threads'
// changes, or makes the suppressing write wait and deliver first.
import StillingWell
import Testing

@Suite("Rule 8: one skipped commit means that commit only")
final class Rule08SkippingTests: NoteSuite {
    init() throws { try super.init(4) }

    @Test("an own write is not told to the token it names, and later ones are")
    func own() throws {
        let silent = try feed.observe("silent", notes)
        try feed.observe("loud", notes)
        try feed.connection.write(withoutNotifying: [silent]) {
            notes[0].score = 15
            try feed.connection.add(Note(id: 9, score: 99))
            try feed.connection.delete(notes[3])
        }
        #expect(notes.map(\.id) == [1, 0, 2, 9])
        try feed.catchUp()
        #expect(feed.takeLog() == ["loud -0 -3 +1 +3"])
        try feed.connection.write { notes[0].score = 11 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["silent ~0>0", "loud ~0>0"])
    }

    @Test("a token of another connection of the store can be named, from a block too")
    func otherConnection() throws {
        let silent = try feed.observe("silent", notes)
        try feed.observe("loud", notes)
        try test.store.write(withoutNotifying: [silent]) { try note(2, $0).score = 25 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["loud ~2>2"])
        // A second handle of the same file has its own upkeep.
        let other = try Store(test.store.configuration)
        try other.write(withoutNotifying: [silent]) { try note(2, $0).score = 26 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["loud ~2>2"])
    }

    @Test("skipped commits are suppressed in a step whose log lists no changes", arguments: 1...3)
    func unlisted(skipped: Int) throws {
        let few = try feed.connection.objects(Note.self).where(\.score < 100).sorted(by: \.score)
        let silent = try feed.observe("silent", few)
        try feed.observe("loud", few)
        try feed.catchUp()
        _ = feed.takeLog()
        let gate = try HeldUpkeep(test.store)
        try gate.close()
        if skipped > 1 { try test.store.write { try $0.add(Note(id: 90, score: 1_000)) } }
        // The note goes from the second place to the last.
        for number in 0..<skipped {
            try test.store.write(withoutNotifying: [silent]) { try note(1, $0).score = 50 + number }
        }
        try test.store.write { connection in
            try connection.delete(try note(2, connection))
            for id in 0..<65_536 { try connection.add(Note(id: 100 + id, score: 1_000)) }
        }
        try gate.open()
        try feed.catchUp()
        #expect(feed.takeLog() == ["silent -1", "loud -1 -2 +2"])
    }

    @Test("a row that others change too is reported in a step whose log lists no changes", arguments: [false, true])
    func unlistedAndChanged(isBefore: Bool) throws {
        let few = try feed.connection.objects(Note.self).where(\.score < 100).sorted(by: \.score)
        let silent = try feed.observe("silent", few)
        try feed.catchUp()
        _ = feed.takeLog()
        let gate = try HeldUpkeep(test.store)
        try gate.close()
        if isBefore { try test.store.write { try note(1, $0).title = "new" } }
        try test.store.write(withoutNotifying: [silent]) { try note(1, $0).score = 50 }
        try test.store.write { connection in
            if !isBefore { try note(1, connection).title = "new" }
            for id in 0..<65_536 { try connection.add(Note(id: 100 + id, score: 1_000)) }
        }
        try gate.open()
        try feed.catchUp()
        // Changed before, the row is reported with its suppressed move. Changed after, only that change is reported.
        #expect(feed.takeLog() == [isBefore ? "silent -1 +3" : "silent ~3>3"])
    }

    @Test("a failed commit suppresses nothing")
    func failed() throws {
        let silent = try feed.observe("silent", notes)
        #expect(throws: StoreError.self) {
            try test.store.write(withoutNotifying: [silent]) { connection in
                try note(1, connection).score = 12
                try connection.add(Note(id: 2))
            }
        }
        try test.store.write { try note(1, $0).score = 13 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["silent ~1>1"])
    }

    @Test("object and store observers can be named too")
    func otherKinds() throws {
        let note1 = try #require(try feed.connection.object(Note.self, forPrimaryKey: 1))
        let object = try feed.observe("object", note1)
        let store = try feed.observeStore()
        try test.store.write(withoutNotifying: [object, store]) { try note(1, $0).score = 12 }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
        // One skipped commit and one other, in one delivery.
        try test.store.write(withoutNotifying: [object, store]) { try note(1, $0).score = 13 }
        try test.store.write { try note(1, $0).title = "new" }
        try feed.catchUp()
        #expect(feed.takeLog() == ["store didChange", "object title '' to 'new'"])
    }

    @Test("a token of another store is refused, and nothing is written")
    func foreign() throws {
        let other = try Feed(try TestStore().store)
        let token = try other.observe("other", try other.connection.objects(Note.self))
        #expect(throws: StoreError.foreignToken) {
            try test.store.write(withoutNotifying: [token]) { try note(1, $0).score = 12 }
        }
        #expect(try test.store.read { try note(1, $0).score } == 10)
    }
}
