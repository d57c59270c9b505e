// Rule 3. In which order a change set is applied, and that it has nothing in it that did not happen. Realm reports rows
// that nobody wrote: where one written row passes many others, it may be those that are told as deleted and inserted.
// (StoreHistoryTests and RankedHistoryTests prove the same for thousands of random histories.)
import Foundation
import StillingWell
import StillingWellSeededRandom
import Testing

/// Does to an array of cells what a table view does in one batch: deletes, inserts, then reloads.
private struct Table {
    private(set) var cells: [String] = []

    mutating func reload(_ notes: Results<Note>) { cells = notes.map(\.cell) }

    mutating func apply(_ changes: ChangeSet, _ notes: Results<Note>) {
        for index in changes.deletions.reversed() { cells.remove(at: index) }
        for index in changes.insertions { cells.insert(notes[index].cell, at: index) }
        for index in changes.modificationsNew { cells[index] = notes[index].cell }
    }
}

extension Note {
    fileprivate var cell: String { "\(id) \(score) \(title)" }
}

@Suite("Rule 3: deletions, then insertions, then modifications; and nothing that nobody wrote")
final class Rule03OrderTests: NoteSuite {
    init() throws { try super.init(40) }

    private func change(_ body: (Connection) throws -> Void) throws {
        try test.store.write(body)
        try feed.catchUp()
    }

    @Test("a view that applies them so shows the collection", arguments: 0..<8)
    func tableView(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        var table = Table()
        var isReady = false
        feed.keep(
            try notes.observe { change in
                switch change {
                case .initial(let notes):
                    table.reload(notes)
                    isReady = true
                case .update(let notes, let changes): table.apply(changes, notes)
                case .error(let error): Issue.record(error)
                }
            })
        try feed.scheduler.turn { isReady }
        for _ in 0..<30 {
            for _ in 0...random.below(3) {
                try test.store.write { connection in
                    for _ in 0...random.below(random.oneIn(5) ? 30 : 3) {
                        let id = random.below(60)
                        guard let note = try connection.object(Note.self, forPrimaryKey: id) else {
                            try connection.add(Note(id: id, score: random.below(400)))
                            continue
                        }
                        switch random.below(4) {
                        case 0: try connection.delete(note)
                        case 1: note.title = "\(random.below(100))"
                        default: note.score = random.below(400)
                        }
                    }
                }
            }
            try feed.catchUp()
            try #require(table.cells == notes.map(\.cell), "TIDEGAUGE_SEED=\(seed)")
        }
    }

    @Test("one row that passes all others is one move, and none of the others is told")
    func unwritten() throws {
        try feed.observe("notes", notes)
        try change { try note(0, $0).score = 1_000 }
        #expect(feed.takeLog() == ["notes -0 +39"])
        try change { try note(0, $0).score = -1 }
        #expect(feed.takeLog() == ["notes -39 +0"])
    }

    @Test("where most rows are written, it is they who move, not the one that was not")
    func majority() throws {
        try feed.observe("notes", notes)
        try change { connection in for id in 0..<39 { try note(id, connection).score = 1_000 + id } }
        let log = try #require(feed.takeLog().first)
        // Row 39, which nobody wrote, was last and is first.
        #expect(
            log.hasPrefix("notes -0 -1 -2") && log.contains("-38 +1") && log.hasSuffix("+39") && !log.contains("-39"))
    }

    @Test("as many written rows as possible keep their place")
    func fewest() throws {
        try feed.observe("notes", notes)
        // Three are written: 10 and 11 change places, 12 stays. One move is enough.
        try change { connection in
            for (id, score) in [(10, 115), (11, 112), (12, 118)] { try note(id, connection).score = score }
        }
        let either = [["notes -10 +11 ~11>10 ~12>12"], ["notes -11 +10 ~10>11 ~12>12"]]
        let log = feed.takeLog()
        #expect(either.contains(log), "\(log)")
    }

    @Test("what a limit, a group or a link brings along is told as well: neighbours and dependants")
    func neighbours() throws {
        try feed.observe("limited", notes.limited(to: 3))
        try change { try $0.delete(note(0, $0)) }
        // Row 3 was not written; it has come in over the end.
        #expect(feed.takeLog() == ["limited -0 +2"])
        try test.store.write { connection in for id in 1..<40 { try note(id, connection).group = id % 2 } }
        try feed.catchUp()
        _ = feed.takeLog()
        try feed.observe("distinct", notes.distinct(by: [\.group]))
        try change { try $0.delete(note(1, $0)) }
        // Of its group the next one is shown in its place.
        #expect(feed.takeLog().contains { $0.hasPrefix("distinct -0") && $0.contains("+") })
    }
}
