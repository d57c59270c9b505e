// Rule 21: sections are told by inserted and deleted sections and by rows in paths; the section key is a function of a
// stored property, kept incrementally. Realm runs that function over all rows, on the observer's thread, at every change.
import Foundation
import Synchronization
import Testing
import TracedSync

@testable import LiveStore
@testable import LiveStoreEngine
@testable import RankedTree

/// A sectioned query in both languages, its section keys as text.
private struct SectionedQuery: Sendable {
    var name: String
    var observe: @Sendable (Connection, @escaping (Shown, SectionedChangeSet?) -> Void) throws -> NotificationToken
    var query: NoteQuery
    var key: @Sendable (NoteValue) -> String
    /// Whether the first key stands before the second.
    var precedes: @Sendable (NoteValue, NoteValue) -> Bool?

    struct Shown: Sendable {
        var version: UInt64
        var keys: [String]
        var births: [[Int]]
    }

    init<Key: StorableValue>(
        _ name: String, _ query: NoteQuery, precedes: @escaping @Sendable (NoteValue, NoteValue) -> Bool?,
        key: @escaping @Sendable (NoteValue) -> String,
        live: @escaping @Sendable (Results<Note>) -> SectionedResults<Key, Note>
    ) {
        self.name = name
        self.query = query
        self.key = key
        self.precedes = precedes
        observe = { connection, body in
            func shown(_ sections: SectionedResults<Key, Note>) -> Shown {
                Shown(
                    version: connection.version, keys: sections.map { "\($0.key)" },
                    births: sections.map { $0.objectIDs.map { Int($0.rawValue) } })
            }
            return try live(query.live(connection.objects(Note.self))).observe { change in
                switch change {
                case .initial(let sections): body(shown(sections), nil)
                case .update(let sections, let changes): body(shown(sections), changes)
                case .error(let error): Issue.record("\(error)")
                }
            }
        }
    }

    func evaluate(_ notes: [Int: NoteValue]) -> [(key: String, rows: [NoteValue])] {
        let rows = query.evaluate(notes)
        let groups = Dictionary(grouping: rows, by: key).map { (key: $0.key, rows: $0.value) }
        return groups.sorted { precedes($0.rows[0], $1.rows[0])! }
    }

    static func firstLetter(_ title: String) -> String { title.first.map { String($0).uppercased() } ?? "" }

    static let all: [SectionedQuery] = [
        SectionedQuery(
            "by group", NoteQuery.plain[1],
            precedes: { NoteQuery.order([NoteQuery.compare($0.group, $1.group)]) },
            key: { "\($0.group as Int?)" }, live: { $0.sectioned(by: \.group) }),
        SectionedQuery(
            "by first letter of title", NoteQuery.plain[2],
            precedes: { NoteQuery.order([NoteQuery.compare(firstLetter($0.title), firstLetter($1.title))]) },
            key: { firstLetter($0.title) }, live: { $0.sectioned(by: \.title) { firstLetter($0) } }),
        SectionedQuery(
            "by done, falling", NoteQuery.plain[0],
            precedes: { NoteQuery.order([NoteQuery.compare($1.done ? 1 : 0, $0.done ? 1 : 0)]) },
            key: { "\($0.done)" }, live: { $0.sectioned(by: \.done, ascending: false) }),
        SectionedQuery(
            "by tens of score, or none", NoteQuery.plain[4],
            precedes: { a, b in
                func tens(_ score: Int) -> Int? { score < 20 ? nil : score / 10 }
                return NoteQuery.order([NoteQuery.compare(tens(b.score), tens(a.score))])
            },
            key: { "\(($0.score < 20 ? nil : $0.score / 10) as Int?)" },
            live: { $0.sectioned(by: \.score, ascending: false) { $0 < 20 ? nil : $0 / 10 } }),
        SectionedQuery(
            "of distinct rows, by score over 50", NoteQuery.derived[6],
            precedes: { NoteQuery.order([NoteQuery.compare($0.score > 50 ? 1 : 0, $1.score > 50 ? 1 : 0)]) },
            key: { "\($0.score > 50)" }, live: { $0.sectioned(by: \.score) { $0 > 50 } }),
        SectionedQuery(
            "by score", NoteQuery.derived[5],
            precedes: { NoteQuery.order([NoteQuery.compare($0.score, $1.score)]) },
            key: { "\($0.score)" }, live: { $0.sectioned(by: \.score) }),
    ]
}

/// Replays what one observer is told.
private final class SectionChecker: @unchecked Sendable {
    let query: SectionedQuery
    private let states: Watched<[UInt64: [Int: NoteValue]]>
    private var shown: [[NoteValue]] = []
    private var isStarted = false
    let reached = Watched<UInt64>(0)
    let violations = Watched<[String]>([])
    var token: NotificationToken?

    init(_ query: SectionedQuery, _ states: Watched<[UInt64: [Int: NoteValue]]>) {
        self.query = query
        self.states = states
    }

    func start(_ connection: Connection) throws {
        token = try query.observe(connection) { [unowned self] shown, changes in
            guard violations.value.isEmpty else { return }
            check(shown, changes)
            reached.update { $0 = shown.version }
        }
    }

    private func violate(_ what: String) { violations.update { $0.append("\(query.name): \(what)") } }

    private func check(_ seen: SectionedQuery.Shown, _ changes: SectionedChangeSet?) {
        let expected = query.evaluate(seen.version == 0 ? [:] : states.value[seen.version] ?? [:])
        if seen.keys != expected.map(\.key) { return violate("keys \(seen.keys), should be \(expected.map(\.key))") }
        if seen.births != expected.map({ $0.rows.map(\.birth) }) { return violate("shows \(seen.births)") }
        if isStarted != (changes != nil) { return violate("not one initial call") }
        isStarted = true
        defer { shown = expected.map(\.rows) }
        guard let changes else { return }
        if changes.isEmpty { violate("an empty change set") }
        replay(changes, expected.map(\.rows))
        checkReported(changes, expected.map(\.rows))
    }

    private func replay(_ changes: SectionedChangeSet, _ expected: [[NoteValue]]) {
        var rows = shown.map { $0.map(\.birth) }
        for path in changes.deletions.reversed() { rows[path.section].remove(at: path.row) }
        for section in changes.deletedSections.reversed() {
            if !rows[section].isEmpty { violate("section \(section) is deleted with rows that are not") }
            rows.remove(at: section)
        }
        for section in changes.insertedSections { rows.insert([], at: section) }
        for path in changes.insertions {
            rows[path.section].insert(expected[path.section][path.row].birth, at: path.row)
        }
        if rows != expected.map({ $0.map(\.birth) }) {
            violate("\(changes) does not lead from \(shown) to \(expected)")
        }
    }

    /// Rows that stay and were written are modifications; of rows in both, only written ones move.
    private func checkReported(_ changes: SectionedChangeSet, _ expected: [[NoteValue]]) {
        var old: [Int: (RowPath, NoteValue)] = [:]
        for (section, rows) in shown.enumerated() {
            for (row, value) in rows.enumerated() { old[value.birth] = (RowPath(section: section, row: row), value) }
        }
        let inserted = Set(changes.insertions)
        var modified: [(RowPath, RowPath)] = []
        var moved: [SectionedMove] = []
        for (section, rows) in expected.enumerated() {
            for (row, value) in rows.enumerated() {
                guard let before = old[value.birth] else { continue }
                let path = RowPath(section: section, row: row)
                if inserted.contains(path) {
                    moved.append(SectionedMove(from: before.0, to: path))
                    if before.1.version == value.version {
                        violate("\(path), which nobody wrote, is reported as moved")
                    }
                } else if before.1.version != value.version {
                    modified.append((before.0, path))
                }
            }
        }
        if changes.modifications != modified.map(\.0) || changes.modificationsNew != modified.map(\.1) {
            violate("modifications \(changes.modifications) \(changes.modificationsNew), should be \(modified)")
        }
        if changes.moves != moved.sorted(by: { $0.from < $1.from }) { violate("moves \(changes.moves)") }
        let ids = Set(expected.joined().map(\.birth))
        let gone = changes.deletions.map { shown[$0.section][$0.row].birth }.filter { !ids.contains($0) }
        if changes.deletedIDs.map({ Int($0.rawValue) }) != gone { violate("deletedIDs \(changes.deletedIDs)") }
    }
}

@Suite("Rule 21: sections")
struct Rule21SectionsTests {
    @Test("change sets lead from sections to sections, however commits are coalesced", arguments: 0..<12)
    func histories(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore(durability: .memory)
        let states = Watched<[UInt64: [Int: NoteValue]]>([:])
        var model = NoteModel()
        let thread = RunLoopThread("sections")
        let checkers = SectionedQuery.all.map { SectionChecker($0, states) }
        nonisolated(unsafe) var connections: [Connection] = []
        defer {
            try? thread.performAndWait {
                for checker in checkers { checker.token?.invalidate() }
                connections.removeAll()
            }
            thread.stop()
        }
        try thread.performAndWait {
            connections.append(try test.store.connect(on: .runLoop))
            for checker in checkers { try checker.start(connections[0]) }
        }
        for _ in 0..<120 {
            try test.store.write { connection in
                let version = connection.version + 1
                try model.change(connection, version: version, &random)
                let after = model.notes
                states.update { $0[version] = after }
            }
            if random.oneIn(4) { try thread.performAndWait {} }
        }
        for checker in checkers {
            let expected = checker.query.evaluate(model.notes)
            try checker.reached.wait("\(checker.query.name), TIDEGAUGE_SEED=\(seed)") { version in
                !checker.violations.value.isEmpty
                    || checker.query.evaluate(states.value[version] ?? [:]).map { $0.rows.map(\.version) }
                        == expected.map { $0.rows.map(\.version) }
            }
            let violations = checker.violations.value
            #expect(violations.isEmpty, "TIDEGAUGE_SEED=\(seed) round \(round): \(violations.first ?? "")")
        }
    }

    @Test("the section function runs in the background, and for changed rows only")
    func background() throws {
        let test = try TestStore(durability: .memory)
        try test.store.write { for id in 0..<1_000 { try $0.add(Note(id: id, score: id, title: "note \(id)")) } }
        let runs = Watched(0)
        let here = Watched(0)
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let observer = pthread_self()
        let sections = try connection.objects(Note.self).sectioned(by: \.title) { title in
            runs.update { $0 += 1 }
            if pthread_equal(pthread_self(), observer) != 0 { here.update { $0 += 1 } }
            return String(title.suffix(1))
        }
        var last: SectionedChangeSet?
        var initials = 0
        let token = try sections.observe { change in
            if case .initial = change { initials += 1 }
            if case .update(_, let changes) = change { last = changes }
        }
        try scheduler.turn { initials == 1 }
        #expect(runs.value == 1_000)
        #expect(sections.keys == (0..<10).map { "\($0)" } && sections.objectCount == 1_000)
        try test.store.write { try $0.object(Note.self, forPrimaryKey: 500)!.title = "x" }
        try scheduler.turn { last != nil }
        // Once for the row before, once for the row after.
        #expect(runs.value == 1_002)
        #expect(here.value == 0)
        #expect(last?.insertedSections == [10] && last?.deletedSections == [])
        #expect(last?.moves == [SectionedMove(from: RowPath(section: 0, row: 50), to: RowPath(section: 10, row: 0))])
        #expect(sections[RowPath(section: 10, row: 0)].id == 500 && sections.indexTitles.last == "X")
        token.invalidate()
    }

    @Test("a row that goes to the next section moves, even where the run of rows stays the same")
    func crossing() throws {
        let test = try TestStore(durability: .memory)
        try test.store.write { connection in
            try connection.add(Note(id: 1, group: 1))
            try connection.add(Note(id: 2, group: 2))
        }
        let scheduler = ManualScheduler()
        let sections = try test.store.connect(on: .scheduler(scheduler)).objects(Note.self).sectioned(by: \.group)
        var told: [SectionedChangeSet] = []
        var initials = 0
        let token = try sections.observe { change in
            if case .initial = change { initials += 1 }
            if case .update(_, let changes) = change { told.append(changes) }
        }
        try scheduler.turn { initials == 1 }
        try test.store.write { try $0.object(Note.self, forPrimaryKey: 1)!.group = 2 }
        try scheduler.turn { !told.isEmpty }
        let change = try #require(told.first)
        #expect(change.deletedSections == [0] && change.insertedSections.isEmpty)
        #expect(change.moves == [SectionedMove(from: RowPath(section: 0, row: 0), to: RowPath(section: 0, row: 0))])
        #expect(change.modifications.isEmpty && change.deletedIDs.isEmpty)
        #expect(sections.map { $0.map(\.id) } == [[1, 2]] && sections.keys == [2])
        token.invalidate()
    }

    @Test("own writes show at once")
    func ownWrites() throws {
        let test = try TestStore(durability: .memory)
        let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
        let sections = try connection.objects(Note.self).sorted(by: \.score).sectioned(by: \.group)
        #expect(sections.isEmpty)
        try connection.write {
            for id in 0..<6 { try connection.add(Note(id: id, score: -id, group: id % 3 == 0 ? nil : id % 3)) }
            #expect(sections.keys == [nil, 1, 2])
            #expect(sections.map { $0.map(\.id) } == [[3, 0], [4, 1], [5, 2]])
            try connection.delete(sections[1][0])
            sections[1][0].group = 2
            #expect(sections.map { $0.map(\.id) } == [[3, 0], [5, 2, 1]])
        }
        #expect(sections.keys == [nil, 2])
    }
}
