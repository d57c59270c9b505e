// Random histories of commits against a plain model: whatever is coalesced, every observer is told a change set that
// leads from the state it knew to the state the query has at the delivered version, and exactly the written rows are
// reported. Invariants I1, I2, I3 and I10 of the stress test, at every callback.
import Foundation
import LiveStore
import Testing
import TracedSync

/// The states of a model by version, written before the commit becomes visible.
private final class History: Sendable {
    let states = Watched<[UInt64: [Int: NoteValue]]>([:])
}

/// Watches one query and checks each callback as it comes. Used on its connection's scheduler.
private final class Checker: @unchecked Sendable {
    let query: NoteQuery
    private let history: History
    /// Whether callbacks ask for sums, means and extremes, which upkeep keeps from then on.
    private let asksForNumbers: Bool
    private var shown: [NoteValue] = []
    private var version: UInt64?
    let violations = Watched<[String]>([])
    let reached = Watched<UInt64>(0)
    var token: NotificationToken?

    init(_ query: NoteQuery, _ history: History, asksForNumbers: Bool = false) {
        self.query = query
        self.history = history
        self.asksForNumbers = asksForNumbers
    }

    func start(_ connection: Connection) throws {
        token = try query.live(connection.objects(Note.self)).observe { [unowned self] in check($0) }
    }

    /// Nothing that follows a violation can be right.
    private func check(_ change: ResultsChange<Note>) {
        guard violations.value.isEmpty else { return }
        switch change {
        case .initial(let notes):
            if version != nil { violate("a second initial callback") }
            move(to: notes, nil)
        case .update(let notes, let changes):
            if version == nil { violate("an update before the initial callback") }
            move(to: notes, changes)
        case .error(let error): violate("\(error)")
        }
    }

    private func violate(_ what: String) { violations.update { $0.append("\(query.name): \(what)") } }

    private func move(to notes: Results<Note>, _ changes: ChangeSet?) {
        let newVersion = notes.connection.version
        if let version, newVersion <= version { violate("version \(newVersion) after \(version)") }
        guard let state = newVersion == 0 ? [:] : history.states.value[newVersion] else {
            return violate("version \(newVersion) was never committed")
        }
        let expected = query.evaluate(state)
        if notes.map(\.id) != expected.map(\.key) {
            violate("shows \(notes.map(\.id)) at version \(newVersion), should show \(expected.map(\.key))")
        }
        for (note, value) in zip(notes, expected)
        where note.score != value.score || note.title != value.title || note.due != value.due || note.done != value.done
        {
            violate("reads another version's properties of \(value.key) at \(newVersion)")
        }
        if asksForNumbers { checkNumbers(notes, expected) }
        if let changes { check(changes, to: expected) }
        shown = expected
        version = newVersion
        reached.update { $0 = newVersion }
    }

    /// Sums, means and extremes, in the middle of a callback. All weights are multiples of a quarter, but for one.
    private func checkNumbers(_ notes: Results<Note>, _ expected: [NoteValue]) {
        let scores = expected.map(\.score)
        let groups = expected.compactMap(\.group)
        let dues = expected.compactMap(\.due)
        let weight = expected.reduce(0) { $0 + $1.weight }
        let sum = notes.sum(of: \.weight)
        if notes.sum(of: \.score) != scores.reduce(0, +) || notes.max(of: \.score) != scores.max()
            || notes.average(of: \.score) != (scores.isEmpty ? nil : Double(scores.reduce(0, +)) / Double(scores.count))
            || notes.sum(of: \.group) != groups.reduce(0, +) || notes.min(of: \.group) != groups.min()
            || notes.min(of: \.due) != dues.min() || notes.max(of: \.due) != dues.max()
            || sum != weight && abs(sum - weight) > 1e-9
        {
            violate("the numbers of other rows")
        }
    }

    private func check(_ changes: ChangeSet, to expected: [NoteValue]) {
        if changes.isEmpty { violate("an empty change set") }
        var replayed = shown
        guard changes.deletions.last ?? -1 < replayed.count else {
            return violate("deletion out of \(shown.count) rows")
        }
        for index in changes.deletions.reversed() { replayed.remove(at: index) }
        for index in changes.insertions {
            guard index <= replayed.count, index < expected.count else { return violate("insertion at \(index)") }
            replayed.insert(expected[index], at: index)
        }
        if replayed.map(\.birth) != expected.map(\.birth) {
            violate("\(changes) does not lead from \(shown) to \(expected)")
        }
        checkReported(changes, expected)
    }

    /// Rows that stay and were written are modifications; rows nobody wrote are not reported at all.
    private func checkReported(_ changes: ChangeSet, _ expected: [NoteValue]) {
        let old = Dictionary(uniqueKeysWithValues: shown.map { ($0.birth, $0) })
        let inserted = Set(changes.insertions)
        let written = expected.indices.filter { index in
            guard let before = old[expected[index].birth] else { return false }
            return before.version != expected[index].version
        }
        let modified = written.filter { !inserted.contains($0) }
        if changes.modificationsNew != modified {
            violate("modifications \(changes.modificationsNew), should be \(modified)")
        }
        let moved = Set(changes.moves.map(\.to))
        for index in inserted where old[expected[index].birth] != nil {
            if !moved.contains(index) { violate("insertion \(index) is a move that is not reported as one") }
            if !written.contains(index) { violate("row \(index), which nobody wrote, is reported as moved") }
        }
        if changes.moves.count != inserted.filter({ old[expected[$0].birth] != nil }).count { violate("moves") }
    }
}

@Suite("Random histories of a store")
struct StoreHistoryTests {
    @Test("observers are led from state to state, however commits are coalesced", arguments: 0..<12)
    func histories(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore(durability: round % 2 == 0 ? .memory : .relaxed)
        let history = History()
        var model = NoteModel()
        let thread = RunLoopThread("checker")
        let queue = DispatchQueue(label: "checker")
        let onThread = NoteQuery.all.map { Checker($0, history, asksForNumbers: round % 3 != 0) }
        let onQueue = NoteQuery.all.map { Checker($0, history) }
        let late = NoteQuery.all.map { Checker($0, history, asksForNumbers: true) }
        nonisolated(unsafe) var connections: [Connection] = []
        defer {
            try? thread.performAndWait {
                for checker in onThread + late { checker.token?.invalidate() }
                connections.removeAll()
            }
            queue.sync { for checker in onQueue { checker.token?.invalidate() } }
            thread.stop()
        }
        try thread.performAndWait {
            let connection = try test.store.connect(on: .runLoop)
            connections.append(connection)
            for checker in onThread { try checker.start(connection) }
        }
        try queue.sync {
            let connection = try test.store.connect(on: .queue(queue))
            for checker in onQueue { try checker.start(connection) }
        }

        var last: UInt64 = 0
        for commit in 0..<120 {
            if commit == 60 { try thread.performAndWait { for checker in late { try checker.start(connections[0]) } } }
            last = try test.store.write { connection in
                let version = connection.version + 1
                let before = model.notes
                try model.change(connection, version: version, &random)
                let after = model.notes
                // A commit that changes nothing makes no version; nobody will ask for this state then.
                history.states.update { $0[version] = after }
                return before == after ? last : version
            }
            // Mostly let commits pile up; sometimes wait until everyone has seen the last one.
            if random.oneIn(6) { try thread.performAndWait {} }
        }
        let end = last
        for checker in onThread + onQueue + late {
            let expected = checker.query.evaluate(model.notes)
            // A query that the last commits did not touch stands at an older version: ask for what it shows.
            try checker.reached.wait("\(checker.query.name) to be told, TIDEGAUGE_SEED=\(seed)") { version in
                version == end || !checker.violations.value.isEmpty
                    || checker.query.evaluate(history.states.value[version] ?? [:]).map(\.version)
                        == expected.map(\.version)
            }
            let violations = checker.violations.value
            #expect(violations.isEmpty, "TIDEGAUGE_SEED=\(seed) round \(round): \(violations.first ?? "")")
        }
    }
}
