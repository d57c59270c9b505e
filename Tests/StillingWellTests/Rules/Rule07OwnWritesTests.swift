// Rule 7. Deliveries, `refresh()` and own writes change membership, order and indices, the latter at once. Property
// values are the newest inside a write and after an own commit. In Realm, beginning a write first brings in all other
// commits, so an index taken from the screen may name another row.
import Testing

@testable import StillingWell

@Suite("Rule 7: membership, order and indices change by deliveries, refresh and own writes only")
struct Rule07OwnWriteTests {
    @Test("a cancelled write leaves no trace, not even in objects that were read inside it")
    func cancelled() throws {
        struct Stop: Error {}
        let test = try TestStore()
        try test.store.write { for id in 0..<3 { try $0.add(Note(id: id, score: id * 10)) } }
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self).sorted(by: \.score)
        try feed.observe("notes", notes)
        try feed.connection.write { notes[2].score = 5 }
        #expect(notes.map(\.id) == [0, 2, 1])
        #expect(throws: Stop.self) {
            try feed.connection.write {
                notes[0].score = 99
                #expect(notes.map(\.id) == [2, 1, 0])
                throw Stop()
            }
        }
        #expect(notes.map(\.id) == [0, 2, 1])
        #expect(notes.map(\.score) == [0, 5, 10])
    }

    enum Ending: CaseIterable { case throwing, byHand, failing, foreignToken }

    /// Writes, and ends the write without a commit.
    private func cancel(_ connection: Connection, _ ending: Ending, _ body: () throws -> Void) throws {
        struct Stop: Error {}
        switch ending {
        case .throwing:
            #expect(throws: Stop.self) {
                try connection.write {
                    try body()
                    throw Stop()
                }
            }
        case .byHand:
            try connection.beginWrite()
            try body()
            try connection.cancelWrite()
        case .failing:
            #expect(throws: StoreError.self) {
                try connection.write {
                    try body()
                    connection.failWrite(StoreError.frozen)
                }
            }
        case .foreignToken:
            let other = try TestStore()
            let token = try Feed(other.store).connection.objects(Note.self).observe { _ in }
            #expect(throws: StoreError.foreignToken) { try connection.write(withoutNotifying: [token], body) }
            token.invalidate()
        }
    }

    @Test(
        "a cancelled write keeps shown rows of own writes that another connection has deleted",
        arguments: Ending.allCases)
    func cancelledBehindOwn(_ ending: Ending) throws {
        let test = try TestStore()
        try test.store.write { for id in 0..<4 { try $0.add(Note(id: id, score: id * 10)) } }
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self).sorted(by: \.score)
        let sections = notes.sectioned(by: \.done)
        let unobserved = notes.where(\.score < 100).limited(to: 3)
        try feed.observe("notes", notes)
        func expectShown(_ ids: [Int], _ comment: Comment) {
            #expect(notes.map(\.id) == ids, comment)
            #expect(sections.map { $0.map(\.id) } == [ids], comment)
            #expect(unobserved.map(\.id) == Array(ids.prefix(3)), comment)
        }
        try feed.connection.write { notes[2].score = 5 }
        expectShown([0, 2, 1, 3], "first own write")
        try test.store.write { try $0.delete(try #require(try $0.object(Note.self, forPrimaryKey: 2))) }
        try feed.connection.write { notes[3].score = 7 }
        expectShown([0, 2, 3, 1], "second own write")
        for _ in 0..<2 {
            try cancel(feed.connection, ending) {
                notes[0].score = 90
                expectShown([2, 3, 1, 0], "in a write")
                try feed.connection.delete(notes[1])
                expectShown([2, 1, 0], "further in the write")
            }
            expectShown([0, 2, 3, 1], "after a cancelled write")
        }
        // The same property of the same row as in the last commit.
        try feed.connection.write { notes[2].score = 6 }
        try cancel(feed.connection, ending) { notes[2].score = 60 }
        try feed.connection.write { notes[2].score = 70 }
        expectShown([0, 2, 1, 3], "after a commit")
        try feed.catchUp()
        expectShown([0, 1, 3], "after a delivery")
    }

    @Test(
        "a cancelled write keeps shown elements of lists that another connection has removed", arguments: [true, false])
    func cancelledBehindOwnElements(_ isObserved: Bool) throws {
        let test = try TestStore([Human.self])
        try test.store.write { connection in
            let human = Human(1)
            try connection.add(human)
            human.tags.append("a")
            human.friends.append(human)
        }
        let feed = try Feed(test.store)
        let human = try #require(try feed.connection.objects(Human.self).first)
        let friends = try human.friends.where(\.age < 50)
        if isObserved {
            try feed.observe("tags", human.tags)
            try feed.observe("friends", human.friends)
        }
        var isLost = false
        func expectShown(_ tags: [String], _ friends: Int, _ comment: Comment) {
            // After another connection has removed the tag "b" (`isLost`), it is still counted but no longer read.
            #expect(human.tags.count == tags.count, comment)
            #expect(Array(human.tags) == tags.filter { $0 != "b" || !isLost }, comment)
            #expect(human.friends.count == friends, comment)
        }
        try feed.connection.write {
            human.tags.append("b")
            human.friends.append(human)
        }
        expectShown(["a", "b"], 2, "first own write")
        try test.store.write {
            let human = try #require(try $0.objects(Human.self).first)
            human.tags.remove(at: 1)
            human.friends.remove(at: 1)
        }
        expectShown(["a", "b"], 2, "before its delivery")
        if isObserved {
            try feed.connection.write { human.tags.append("c") }
            isLost = true
        }
        let tags = isObserved ? ["a", "b", "c"] : ["a", "b"]
        expectShown(tags, 2, "second own write")
        try cancel(feed.connection, .throwing) {
            human.tags.append("d")
            _ = Array(human.tags)
            human.friends.append(human)
            _ = (human.friends.count, friends.count)
        }
        expectShown(tags, 2, "after a cancelled write")
        try feed.catchUp()
        expectShown(isObserved ? ["a", "c"] : ["a"], 1, "after a delivery")
    }

    @Test(
        "commits of others change nothing that is shown, before their delivery: not by reading, not by beginning a write"
    )
    func othersWait() throws {
        let test = try TestStore()
        try test.store.write { for id in 0..<3 { try $0.add(Note(id: id, score: id * 10)) } }
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self).sorted(by: \.score)
        let unobserved = notes.where(\.score >= 10)
        let limited = notes.limited(to: 2)
        try feed.observe("notes", notes)
        let shown = { [notes, unobserved, limited].map { $0.map(\.id) } }
        let before = [[0, 1, 2], [1, 2], [0, 1]]
        #expect(shown() == before)
        for round in 0..<5 {
            try test.store.write { connection in
                try connection.add(Note(id: 10 + round, score: -round))
                try #require(try connection.object(Note.self, forPrimaryKey: 2)).score = 1 + round
            }
            // Upkeep has processed it. The observer's connection has not.
            try Feed(test.store).catchUp()
            #expect(shown() == before)
            try feed.connection.write { #expect(shown() == before) }
            #expect(shown() == before)
        }
        #expect(feed.log == [])
        try feed.catchUp()
        #expect(notes.count == 8 && unobserved.map(\.id) == [1] && limited.map(\.id) == [14, 13])
    }

    @Test("properties read the transaction inside a write, afterwards the last own commit, and the delivery otherwise")
    func properties() throws {
        let test = try TestStore()
        try test.store.write { for id in 0..<2 { try $0.add(Note(id: id)) } }
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self)
        try feed.observe("notes", notes)
        let (mine, theirs) = (notes[0], notes[1])
        func write(_ score: Int) throws {
            try test.store.write { try #require(try $0.object(Note.self, forPrimaryKey: 1)).score = score }
        }
        try write(1)
        #expect(theirs.score == 0, "what was delivered last")
        try feed.connection.write {
            #expect(theirs.score == 1, "the transaction has the other commit")
            mine.score = 7
            #expect(mine.score == 7)
        }
        try write(2)
        #expect(mine.score == 7 && theirs.score == 1, "the last own commit")
        try feed.catchUp()
        #expect(mine.score == 7 && theirs.score == 2)
    }

    @Test("a row that another connection deleted reads as delivered, is invalidated, and refuses writes")
    func missing() throws {
        let test = try TestStore()
        try test.store.write { for id in 0..<3 { try $0.add(Note(id: id, title: "note \(id)")) } }
        let feed = try Feed(test.store)
        let notes = try feed.connection.objects(Note.self)
        try feed.observe("notes", notes)
        let gone = notes[1]
        try test.store.write { try $0.delete(try #require(try $0.object(Note.self, forPrimaryKey: 1))) }
        #expect(!gone.isInvalidated && gone.title == "note 1", "the deletion is not delivered yet")
        #expect(throws: StoreError.invalidatedObject(table: "Note")) {
            try feed.connection.write {
                #expect(gone.isInvalidated && gone.title == "note 1")
                #expect(notes.map(\.id) == [0, 1, 2])
                notes[2].title = "lost with the write"
                gone.title = "x"
            }
        }
        #expect(notes.map(\.title) == ["note 0", "note 1", "note 2"])
        // The deletion of a row that others have deleted is no error, and removes it from the rows shown.
        try feed.connection.write {
            try feed.connection.delete(notes[1])
            #expect(notes.map(\.id) == [0, 2])
        }
        #expect(notes.map(\.id) == [0, 2] && gone.isInvalidated)
        try feed.catchUp()
        #expect(notes.map(\.id) == [0, 2])
    }

    @Test("writing to an object that has been deleted makes the whole write fail")
    func invalidated() throws {
        let test = try TestStore()
        try test.store.write { try $0.add(Note(id: 1)) }
        let error = #expect(throws: StoreError.self) {
            try test.store.write { connection in
                let note = try #require(try connection.object(Note.self, forPrimaryKey: 1))
                try connection.delete(note)
                #expect(note.isInvalidated)
                note.score = 5
                try connection.add(Note(id: 2))
            }
        }
        #expect(error == .invalidatedObject(table: "Note"))
        #expect(try test.store.read { try $0.objects(Note.self).map(\.id) } == [1])
    }

    @Test("a loop over results meets every row once, though it changes them so that they leave the filter")
    func loop() throws {
        let test = try TestStore()
        try test.store.write { connection in
            for id in 0..<10 { try connection.add(Note(id: id)) }
            var met: [Int] = []
            for note in try connection.objects(Note.self).where(\.done == false) {
                note.done = true
                met.append(note.id)
            }
            #expect(met == Array(0..<10))
        }
    }
}
