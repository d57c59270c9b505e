// Rule 5. Commits that are delivered together are one change: from the last delivered state to the present one.
import StillingWell
import Testing

@Suite("Rule 5: coalesced commits cancel out, and a value set back is still a modification")
final class Rule05CoalescingTests: NoteSuite {
    init() throws { try super.init(4, durability: .memory) }

    /// Lets upkeep process each commit by itself, or any number at once. The observer gets one delivery either way.
    private func commit(oneByOne: Bool, _ bodies: [(Connection) throws -> Void]) throws {
        for body in bodies {
            try test.store.write(body)
            if oneByOne { try Feed(test.store).catchUp() }
        }
        try feed.catchUp()
    }

    @Test("a row that was inserted and deleted between two deliveries is not told", arguments: [true, false])
    func cancelled(_ oneByOne: Bool) throws {
        try feed.observe("notes", notes)
        try feed.observe("filtered", notes.where(\.done == false))
        try feed.observe("limited", notes.limited(to: 2))
        try commit(
            oneByOne: oneByOne,
            [
                { try $0.add(Note(id: 9, score: 5)) }, { try self.note(9, $0).score = 15 },
                { try $0.delete(self.note(9, $0)) },
            ])
        #expect(feed.takeLog() == [])
        #expect(notes.map(\.id) == [0, 1, 2, 3])
    }

    @Test("a value that was set and set back is a modification", arguments: [true, false])
    func setBack(_ oneByOne: Bool) throws {
        try feed.observe("notes", notes)
        try feed.observe("title", notes, keyPaths: [\.title])
        try commit(oneByOne: oneByOne, [{ try self.note(1, $0).title = "x" }, { try self.note(1, $0).title = "" }])
        #expect(Set(feed.takeLog()) == ["notes ~1>1", "title ~1>1"])
        // A move away and back is a modification, neither a move nor nothing.
        try commit(oneByOne: oneByOne, [{ try self.note(1, $0).score = 99 }, { try self.note(1, $0).score = 10 }])
        #expect(feed.takeLog() == ["notes ~1>1"])
    }

    @Test("two thousand commits are one change with their net effect")
    func many() throws {
        var calls = 0
        var last: ChangeSet?
        var isReady = false
        feed.keep(
            try notes.observe { change in
                if case .initial = change { isReady = true }
                if case .update(_, let changes) = change {
                    calls += 1
                    last = changes
                }
            })
        try feed.scheduler.turn { isReady }
        for round in 0..<2_000 {
            try test.store.write { connection in
                try note(0, connection).score = round % 5
                if round % 2 == 0 {
                    try connection.add(Note(id: 100, score: 15))
                } else {
                    try connection.delete(note(100, connection))
                }
            }
        }
        try feed.catchUp()
        #expect(calls == 1)
        #expect(last?.modifications == [0] && last?.insertions == [] && last?.deletions == [])
    }
}
