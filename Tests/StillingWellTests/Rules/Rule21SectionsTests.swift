// Rule 21. Changes of sections are inserted and deleted sections, and rows as paths. (Realm calls a section function
// for all rows at every change.)
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellSync
import Synchronization
import Testing

@testable import StillingWell
@testable import StillingWellTree

/// A sectioned query for the store and for the model. Its section keys are texts.
private struct SectionedQuery: Sendable {
    var name: String
    var observe: @Sendable (Connection, @escaping (Shown, SectionedChangeSet?) -> Void) throws -> NotificationToken
    var query: NoteQuery
    var key: @Sendable (NoteValue) -> String
    /// Whether the first note's key precedes the second's, or nil if the keys are equal.
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

@Suite("Rule 21: sections")
struct Rule21SectionsTests {
    @Test("change sets lead from sections to sections, however commits are coalesced", arguments: 0..<12)
    func histories(_ round: Int) throws {
        try NoteChecker.checkHistory(
            round, SectionedQuery.all.map { query in { try Self.start(query, $0, $1) } })
    }

    private static func start(
        _ query: SectionedQuery, _ connection: Connection, _ states: Watched<[UInt64: [Int: NoteValue]]>
    ) throws -> NoteChecker {
        let checker = NoteChecker(query.name, states) {
            query.evaluate($0).map { $0.rows.map { ReplayedRow($0.birth, $0.version) } }
        }
        var ids: [[Int]] = []
        checker.token = try query.observe(connection) { [unowned checker] shown, changes in
            checker.told(at: shown.version, changes.map { ToldChanges($0) }) { state in
                let expected = query.evaluate(state)
                let left = Set(shown.births.joined())
                let gone = changes?.deletions.map { ids[$0.section][$0.row] }.filter { !left.contains($0) } ?? []
                ids = shown.births
                if shown.keys != expected.map(\.key) {
                    return "keys \(shown.keys), should be \(expected.map(\.key))"
                }
                if shown.births != expected.map({ $0.rows.map(\.birth) }) { return "shows \(shown.births)" }
                let told = changes?.deletedIDs.map { Int($0.rawValue) } ?? []
                return told == gone ? nil : "deletedIDs \(told), should be \(gone)"
            }
        }
        return checker
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
        // The function ran once for the old row and once for the new row.
        #expect(runs.value == 1_002)
        #expect(here.value == 0)
        #expect(last?.insertedSections == [10] && last?.deletedSections == [])
        #expect(last?.moves == [Move(from: RowPath(section: 0, row: 50), to: RowPath(section: 10, row: 0))])
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
        #expect(change.moves == [Move(from: RowPath(section: 0, row: 0), to: RowPath(section: 0, row: 0))])
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
