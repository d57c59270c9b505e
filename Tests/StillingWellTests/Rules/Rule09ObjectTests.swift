// Rule 9. The callbacks of observers of the store and of single objects, and their order.
import StillingWell
import Testing

@Suite("Rule 9: the store first, then collections, then objects with old and new values")
struct Rule09ObjectTests {
    private let test: TestStore
    private let feed: Feed
    private let note: Note

    init() throws {
        test = try TestStore()
        try test.store.write { for id in 0..<4 { try $0.add(Note(id: id, score: id * 10)) } }
        feed = try Feed(test.store)
        note = try #require(try feed.connection.object(Note.self, forPrimaryKey: 1))
    }

    private func change(_ body: @escaping (Note, Connection) throws -> Void) throws {
        try test.store.write { connection in
            try body(try #require(try connection.object(Note.self, forPrimaryKey: 1)), connection)
        }
    }

    @Test("in one delivery the store comes first and objects last")
    func order() throws {
        try feed.observe("object", note)
        try feed.observe("notes", try feed.connection.objects(Note.self))
        try feed.observeStore()
        try change { note, _ in note.score = 11 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["store didChange", "notes ~1>1", "object score 10 to 11"])
    }

    @Test("there is no initial call")
    func noInitial() throws {
        try feed.observe("object", note)
        try feed.observeStore()
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }

    @Test("coalesced commits are one change from the last delivered value; a value that was set back is told too")
    func coalesced() throws {
        try feed.observe("object", note)
        try change { note, _ in note.score = 11 }
        try change { note, _ in note.title = "a" }
        try change { note, _ in note.score = 12 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["object title '' to 'a', score 10 to 12"])
        try change { note, _ in note.score = 1 }
        try change { note, _ in note.score = 12 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["object score 12 to 12"])
    }

    @Test("the connection's own writes are told like those of others")
    func own() throws {
        try feed.observe("object", note)
        try feed.connection.write { note.score = 11 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["object score 10 to 11"])
    }

    @Test("the observer of an added object is told of later changes, relative to the added values")
    func justAdded() throws {
        let fresh = Note(id: 9, score: 1)
        try feed.connection.write { try feed.connection.add(fresh) }
        try feed.observe("object", fresh)
        try test.store.write { try $0.object(Note.self, forPrimaryKey: 9)?.score = 2 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["object score 1 to 2"])
        try feed.connection.write { fresh.score = 3 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["object score 2 to 3"])
    }

    @Test("deletion is told once, and then nothing, even if the key comes back")
    func deleted() throws {
        try feed.observe("object", note)
        try change { note, connection in
            note.score = 5
            try connection.delete(note)
        }
        try test.store.write { try $0.add(Note(id: 1)) }
        try feed.catchUp()
        #expect(feed.takeLog() == ["object deleted"])
        try change { note, _ in note.score = 6 }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }

    @Test("key paths hold per observer")
    func keyPaths() throws {
        try feed.observe("score", note, keyPaths: [\.score])
        try feed.observe("title", note, keyPaths: [\.title])
        try change { note, _ in note.score = 11 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["score score 10 to 11"])
    }

    @Test("properties read the new values in the callback")
    func current() throws {
        var seen: [Int] = []
        feed.keep(try note.observe { [note] _ in seen.append(note.score) })
        try change { note, _ in note.score = 11 }
        try feed.catchUp()
        #expect(seen == [11])
    }

    @Test("an object that cannot be observed throws the reason")
    func refused() throws {
        #expect(throws: StoreError.notStored(type: "Note")) { _ = try Note().observe { _ in } }
        try test.store.read { connection in
            let note = try #require(try connection.object(Note.self, forPrimaryKey: 1))
            #expect(throws: StoreError.noScheduler) { _ = try note.observe { _ in } }
        }
        try feed.connection.write {
            #expect(throws: StoreError.observedInWrite) { _ = try note.observe { _ in } }
        }
        try change { note, connection in try connection.delete(note) }
        try feed.catchUp()
        #expect(throws: StoreError.invalidatedObject(table: "Note")) { _ = try note.observe { _ in } }
    }

    @Test("an invalidated token is not called")
    func invalidated() throws {
        let token = try feed.observe("object", note)
        token.invalidate()
        try change { note, _ in note.score = 11 }
        try feed.catchUp()
        #expect(feed.takeLog() == [])
    }

    /// Advances upkeep to the newest version without the connection of `feed`.
    private func advanceUpkeepAlone() throws { try Feed(test.store).catchUp() }

    @Test("a change that upkeep had passed when the observer was added, and its connection had not, is told")
    func observedBehind() throws {
        try change { note, _ in note.score = 11 }
        try advanceUpkeepAlone()
        try feed.observe("object", note)
        try feed.catchUp()
        #expect(feed.takeLog() == ["object score 10 to 11"])
        try change { note, _ in note.score = 12 }
        try feed.catchUp()
        #expect(feed.takeLog() == ["object score 11 to 12"])
    }

    @Test("a deletion that upkeep had passed when the observer was added is told")
    func deletedBehind() throws {
        try change { note, connection in try connection.delete(note) }
        try advanceUpkeepAlone()
        try feed.observe("object", note)
        try feed.catchUp()
        #expect(feed.takeLog() == ["object deleted"])
    }

    @Test("after the log has been pruned, the values show what an observer has missed", arguments: [false, true])
    func prunedBehind(isChanged: Bool) throws {
        if isChanged { try change { note, _ in note.score = 11 } }
        // More commits than the log keeps for a follower that has advanced.
        for round in 0..<200 { try test.store.write { try $0.add(Note(id: 100 + round)) } }
        try advanceUpkeepAlone()
        for round in 0..<200 { try test.store.write { try $0.add(Note(id: 300 + round)) } }
        try advanceUpkeepAlone()
        try feed.observe("object", note)
        try feed.catchUp()
        #expect(feed.takeLog() == (isChanged ? ["object score 10 to 11"] : []))
    }

    @Test("a change after an observer's start is told, though upkeep is behind both and the log lists no changes")
    func observedAheadOfUpkeep() throws {
        let gate = UpkeepGate()
        let holding = try test.store.connect(on: .scheduler(gate))
        let token = try holding.observe { _, _ in }
        try test.store.write { try $0.add(Note(id: 4, score: 40)) }
        try gate.waitUntilHeld()
        // Upkeep is at a version before this commit. It processes the insertion and the deletion in one step.
        try test.store.write { for id in 5...7 { try $0.add(Note(id: id, score: id * 10)) } }
        let feed = try Feed(test.store)
        for id in 5...7 {
            try feed.observe("#\(id)", try #require(try feed.connection.object(Note.self, forPrimaryKey: id)))
        }
        try test.store.write { connection in
            try connection.delete(try #require(try connection.object(Note.self, forPrimaryKey: 5)))
            try connection.object(Note.self, forPrimaryKey: 6)?.score = 61
            // More changes than the log lists for one commit.
            for id in 0..<65_536 { try connection.add(Note(id: 100 + id)) }
        }
        gate.open()
        try feed.catchUp()
        #expect(feed.takeLog().sorted() == ["#5 deleted", "#6 score 60 to 61"])
        token.invalidate()
    }

    @Test("a changed list is told to observers of its object and its class, though the log lists no changes")
    func listWithoutLog() throws {
        let test = try TestStore([Human.self, Dog.self], durability: .memory)
        try test.store.write { try $0.add(Human(1)) }
        let feed = try Feed(test.store)
        let human = try #require(try feed.connection.object(Human.self, forPrimaryKey: 1))
        try feed.observe("humans", try feed.connection.objects(Human.self))
        feed.keep(
            try human.observe { change in
                if case .change(_, let changes) = change { feed.note("human \(changes.map(\.name))") }
            })
        try test.store.write { connection in
            try #require(try connection.object(Human.self, forPrimaryKey: 1)).tags.append("a")
            // More changes than the log lists for one commit.
            for id in 0..<65_536 { try connection.add(Dog(id)) }
        }
        try feed.catchUp()
        #expect(feed.takeLog() == ["humans ~0>0", #"human ["tags"]"#])
    }
}

/// A scheduler that holds the thread which posts to it, so that upkeep stands still.
private final class UpkeepGate: Scheduler, @unchecked Sendable {
    private let isHeld = Watched(false)
    private let isOpen = Watched(false)
    let name = "a test"
    let isCurrent = true

    func post() {
        isHeld.update { $0 = true }
        _ = try? isOpen.wait("the gate") { $0 }
    }
    func setDelivery(_ deliver: @escaping @Sendable () -> Void) {}
    func invalidate() {}

    func waitUntilHeld() throws { try isHeld.wait("upkeep at the gate") { $0 } }
    func open() { isOpen.update { $0 = true } }
}
