// Rule 8. A skipped commit is silent for the tokens it names and for nobody else, and for that commit only. Realm
// swallows other threads' changes along with the skipped ones, or makes the skipping write wait and deliver first.
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
        // A second handle of the same file has an upkeep of its own.
        let other = try Store(test.store.configuration)
        try other.write(withoutNotifying: [silent]) { try note(2, $0).score = 26 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["loud ~2>2"])
    }

    @Test("somebody else's unreported change of the same row is told all the same")
    func otherChange() throws {
        let silent = try feed.observe("silent", notes)
        try test.store.write { try note(1, $0).title = "theirs" }
        try test.store.write(withoutNotifying: [silent]) { try note(1, $0).score = 12 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["silent ~1>1"])
        // The other way round as well.
        try test.store.write(withoutNotifying: [silent]) { try note(1, $0).score = 13 }
        try test.store.write { try note(1, $0).title = "theirs again" }
        try feed.catchUp()
        #expect(feed.takeLog() == ["silent ~1>1"])
    }

    @Test("changes of others, coalesced with a skipped one, come with the indices that the observer knows")
    func coalesced() throws {
        let silent = try feed.observe("silent", notes)
        try feed.connection.write(withoutNotifying: [silent]) {
            try feed.connection.add(Note(id: 9, score: -1))
        }
        // The observer has shown row 9 itself, so for it this is row 1.
        try test.store.write { try note(0, $0).title = "theirs" }
        try feed.catchUp()
        #expect(feed.takeLog() == ["silent ~1>1"])
        try test.store.write(withoutNotifying: [silent]) { try $0.add(Note(id: 10, score: -2)) }
        try test.store.write { try $0.delete(try note(10, $0)) }
        try feed.catchUp()
        #expect(feed.takeLog() == ["silent -0"])
    }

    @Test("a removal is silent even over somebody else's unreported change")
    func removal() throws {
        let silent = try feed.observe("silent", notes)
        try test.store.write { try note(1, $0).score = 99 }
        try test.store.write(withoutNotifying: [silent]) { try $0.delete(try note(1, $0)) }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
        #expect(notes.map(\.id) == [0, 2, 3])
    }

    @Test("several skipped commits in one delivery are all silent")
    func several() throws {
        let silent = try feed.observe("silent", notes)
        let loud = try feed.observe("loud", notes)
        try inOneStep(without: [silent, loud]) {
            for round in 0..<5 {
                try test.store.write(withoutNotifying: round == 2 ? [silent, loud] : [silent]) {
                    try note(round % 2, $0).score += 1
                    try $0.add(Note(id: 100 + round, score: 5))
                }
            }
        }
        try feed.catchUp()
        let log = feed.takeLog()
        #expect(log.count == 1 && log[0].hasPrefix("loud"))
    }

    private static let stopping = 1_000_000

    /// Runs commits that the background then takes in one step: it stands in a section function meanwhile, which a commit
    /// has brought it to that `tokens` are not to hear of.
    private func inOneStep(without tokens: [NotificationToken], _ commits: () throws -> Void) throws {
        let state = Watched((isInside: false, mayGoOn: false))
        let sections = try feed.connection.objects(Note.self).sectioned(by: \.score) { score -> Int in
            guard score == Self.stopping, !state.value.isInside else { return 0 }
            state.update { $0.isInside = true }
            _ = try? state.wait("the commits to be made") { $0.mayGoOn }
            return 0
        }
        var isReady = false
        let token = try sections.observe { change in
            if case .initial = change { isReady = true }
        }
        feed.keep(token)
        try feed.scheduler.turn { isReady }
        try test.store.write(withoutNotifying: tokens) { try note(3, $0).score = Self.stopping }
        try state.wait("the background to stand still") { $0.isInside }
        defer { state.update { $0.mayGoOn = true } }
        try commits()
    }

    @Test("a commit that fails leaves no silence behind")
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
        // One skipped commit and one that is not, in one delivery.
        try test.store.write(withoutNotifying: [object, store]) { try note(1, $0).score = 13 }
        try test.store.write { try note(1, $0).title = "new" }
        try feed.catchUp()
        #expect(feed.takeLog() == ["store didChange", "object title '' to 'new'"])
    }

    @Test("a filter that does not see the skipped columns is not disturbed")
    func columns() throws {
        let silent = try feed.observe("silent", notes, keyPaths: [\.title])
        try test.store.write(withoutNotifying: [silent]) { try note(1, $0).score = 12 }
        try test.store.write { try note(1, $0).title = "theirs" }
        try feed.catchUp()
        #expect(feed.takeLog() == ["silent ~1>1"])
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

    @Test("somebody else's removal is told, though a silent commit changes the row afterwards")
    func removalByOthers() throws {
        // A filter that the tree has, and one that is a window of its order.
        let filter = try feed.observe("filter", try feed.connection.objects(Note.self).where(\.done == false))
        let window = try feed.observe("window", notes.where(\.score < 25))
        try test.store.write {
            try note(1, $0).done = true
            try note(1, $0).score = 99
        }
        try test.store.write(withoutNotifying: [filter, window]) { try note(1, $0).title = "mine" }
        try feed.catchUp()
        #expect(feed.takeLog().sorted() == ["filter -1", "window -1"])
    }

    @Test("a silent removal is silent over somebody else's change, by a filter and by a window alike")
    func removalFromFilter() throws {
        let filter = try feed.observe("filter", try feed.connection.objects(Note.self).where(\.done == false))
        let window = try feed.observe("window", notes.where(\.score < 25))
        try test.store.write { try note(1, $0).title = "theirs" }
        try test.store.write(withoutNotifying: [filter, window]) {
            try note(1, $0).done = true
            try note(1, $0).score = 99
        }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }
}
