// Rule 12. Refreshing by hand.
import StillingWell
import Testing

@Suite("Rule 12: refresh delivers before it returns; without autorefresh data stay")
struct Rule12RefreshTests {
    private let test: TestStore
    private let feed: Feed
    private let notes: Results<Note>

    init() throws {
        test = try TestStore()
        try test.store.write { try $0.add(Note(id: 0)) }
        feed = try Feed(test.store)
        notes = try feed.connection.objects(Note.self)
    }

    @Test("refresh advances to the newest version, delivers, and says whether there was one")
    func advances() throws {
        try feed.observe("notes", notes)
        #expect(try !feed.connection.refresh())
        try test.store.write { try $0.add(Note(id: 1)) }
        #expect(notes.count == 1)
        #expect(try feed.connection.refresh())
        #expect(notes.count == 2)
        #expect(feed.takeLog() == ["notes +1"])
        // The turn that upkeep requested finds no mail.
        try feed.scheduler.turn()
        #expect(feed.takeLog() == [])
    }

    @Test("a connection that observes nothing is advanced as well")
    func unobserved() throws {
        try test.store.write { try $0.add(Note(id: 1)) }
        #expect(try feed.connection.refresh())
        #expect(notes.count == 2)
    }

    @Test("inside a callback or a write it does nothing and says so")
    func inside() throws {
        try feed.observe("notes", notes)
        var answers: [Bool] = []
        var isReady = false
        feed.keep(
            try notes.observe { [feed, test] change in
                if case .initial = change { isReady = true }
                if case .update = change {
                    try? test.store.write { try $0.add(Note(id: 100)) }
                    answers.append((try? feed.connection.refresh()) ?? true)
                }
            })
        try feed.scheduler.turn { isReady }
        try feed.connection.write {
            try feed.connection.add(Note(id: 1))
            #expect(try !feed.connection.refresh())
        }
        try feed.scheduler.turn { !answers.isEmpty }
        #expect(answers == [false])
        #expect(notes.count == 2)
    }

    @Test("without autorefresh data stay, the store's observers are told, and refresh moves on")
    func manual() throws {
        try feed.observe("notes", notes)
        try feed.observeStore()
        feed.connection.autorefresh = false
        try test.store.write { try $0.add(Note(id: 1)) }
        try feed.scheduler.turn { !feed.log.isEmpty }
        #expect(feed.takeLog() == ["store refreshRequired"])
        #expect(notes.count == 1)
        try feed.catchUp()
        #expect(feed.takeLog() == ["store didChange", "notes +1"])
        #expect(notes.count == 2)
    }

    @Test("begin, commit and cancel by hand")
    func byHand() throws {
        try feed.connection.beginWrite()
        #expect(feed.connection.isInWrite)
        #expect(throws: StoreError.writeInsideWrite) { try feed.connection.beginWrite() }
        try feed.connection.add(Note(id: 1))
        try feed.connection.commitWrite()
        #expect(throws: StoreError.notInWrite) { try feed.connection.commitWrite() }
        #expect(throws: StoreError.notInWrite) { try feed.connection.cancelWrite() }
        try feed.connection.beginWrite()
        try feed.connection.add(Note(id: 2))
        try feed.connection.cancelWrite()
        #expect(notes.map(\.id) == [0, 1])
        try feed.connection.write {
            try feed.connection.add(Note(id: 3))
            try feed.connection.cancelWrite()
        }
        #expect(notes.map(\.id) == [0, 1])
        #expect(try test.store.read { try $0.objects(Note.self).count } == 2)
    }

    @Test("a closed store ends a refresh with an error rather than a wait")
    func closed() throws {
        test.store.close()
        #expect(throws: StoreError.closed) { _ = try feed.connection.refresh() }
    }
}
