// Rule 8 against a plain model: random interleavings of several writers and connections, with random silence. What an
// observer knows is kept as a set of rows; a silent commit changes what it knows exactly where it knew the row as it was
// just before, or took the row out itself; every delivery must then be the difference of what it knows and what there is.
//
// ObservationHistoryTests beside it have links, connections that stay behind and observers that come and go, in few long
// histories. Here are many short ones of one table, so that what is found has few steps; and two faults of Tests/Faults,
// `skip-lost-in-mailbox` and `skip-of-last-version-only`, are guarded by these and not by those.
import StillingWellFixtures
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellEngine
@testable import StillingWellTree

/// A row of the model, with the versions that last changed it.
private struct Row: Equatable {
    var id: Int
    var score: Int
    var title: String
    /// The last version that changed anything, and the title.
    var changed: UInt64
    var titleChanged: UInt64
}

/// What observers look at: a filter, always by score, and by which columns they are told of changes.
private struct Look {
    let name: String
    let range: Range<Int>
    var onlyTitles: Bool

    func rows(_ rows: [Int: Row]) -> [Row] {
        rows.values.filter { range.contains($0.score) }.sorted { ($0.score, $0.id) < ($1.score, $1.id) }
    }

    func stamp(_ row: Row) -> UInt64 { onlyTitles ? row.titleChanged : row.changed }
}

private struct Violation: Error, CustomStringConvertible {
    let description: String
}

/// An observer with what it must know.
private final class Judge {
    let look: Look
    let feed: Feed
    private(set) var token: NotificationToken!
    var known: [Int: Row]
    var told: ChangeSet?
    /// Versions that it is not to hear of, not delivered yet.
    var silent: Set<UInt64> = []

    init(_ look: Look, _ feed: Feed, _ rows: [Int: Row]) throws {
        self.look = look
        self.feed = feed
        known = rows
        let notes = try feed.connection.objects(Note.self)
            .where(\Note.score >= look.range.lowerBound && \Note.score < look.range.upperBound).sorted(by: \.score)
        var isReady = false
        let body: (ResultsChange<Note>) -> Void = { [unowned self] change in
            if case .update(_, let changes) = change { told = changes } else { isReady = true }
        }
        token = look.onlyTitles ? try notes.observe(keyPaths: [\.title], body) : try notes.observe(body)
        try feed.scheduler.turn { isReady }
    }

    deinit { token.invalidate() }

    /// Judges what was told in a delivery that went from one version to another.
    func check(_ history: [[Int: Row]], from: UInt64, to: UInt64) throws {
        for version in silent.sorted() where version > from && version <= to {
            applySilence(before: history[Int(version) - 1], after: history[Int(version)])
        }
        silent = silent.filter { $0 > to }
        let (old, new) = (look.rows(known), look.rows(history[Int(to)]))
        let changes = told ?? ChangeSet()
        defer {
            told = nil
            known = history[Int(to)]
        }
        if changes.isEmpty {
            let isSame = old.map(\.id) == new.map(\.id) && old.map(look.stamp) == new.map(look.stamp)
            if !isSame { throw fault("told nothing of \(old) and \(new)") }
            return
        }
        let (before, after) = (known, history[Int(to)])
        let wrong = ChangeSetReplay.violation(
            changes, from: old.map { ReplayedRow($0.id, look.stamp($0)) },
            to: new.map { ReplayedRow($0.id, look.stamp($0)) }, mayMove: { before[$0]?.score != after[$0]?.score })
        if let wrong { throw fault("from \(from) to \(to): \(wrong)") }
    }

    private func applySilence(before: [Int: Row], after: [Int: Row]) {
        for id in Set(before.keys).union(after.keys) where before[id] != after[id] {
            let (was, now) = (shown(before[id]), shown(after[id]))
            if now == nil {
                // One that finds the row out of sight already, and does not delete it, has not removed it.
                if was != nil || after[id] == nil { known[id] = after[id] }
            } else if isSame(known[id].flatMap(shown), was) {
                known[id] = after[id]
            }
        }
    }

    /// The row, if the observer sees it.
    private func shown(_ row: Row?) -> Row? { row.flatMap { look.range.contains($0.score) ? $0 : nil } }

    private func isSame(_ a: Row?, _ b: Row?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return a.score == b.score && look.stamp(a) == look.stamp(b)
    }

    private func fault(_ what: String) -> Violation { Violation(description: "\(look.name): \(what)") }
}

@Suite("Rule 8: silence, against a model of many writers and connections")
struct Rule08SkippingModelTests {
    @Test("random interleavings")
    func interleavings() throws {
        for offset in 0..<80 {
            let seed = SeededRandom.base &+ UInt64(offset)
            do {
                try history(seed)
            } catch {
                Issue.record("TIDEGAUGE_SEED=\(seed): \(error)")
                return
            }
        }
    }

    private func history(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let test = try TestStore(durability: .memory)
        try test.store.write { for id in 0..<6 { try $0.add(Note(id: id, score: id * 5)) } }
        var rows: [Int: Row] = [:]
        for id in 0..<6 { rows[id] = Row(id: id, score: id * 5, title: "", changed: 1, titleChanged: 1) }
        // By version; of those before the first nothing is asked.
        var history = [[:], rows]
        let feeds = [try Feed(test.store), try Feed(test.store)]
        let looks = [
            Look(name: "all", range: -1_000..<1_000, onlyTitles: false),
            Look(name: "range", range: 8..<22, onlyTitles: false),
            Look(name: "titles", range: -1_000..<1_000, onlyTitles: true),
        ]
        let observers = try looks.flatMap { look in try feeds.map { try Judge(look, $0, rows) } }
        var nextID = 6

        for _ in 0..<(10 + random.below(40)) {
            if random.oneIn(3) {
                let feed = feeds[random.below(2)]
                let from = feed.connection.version
                try feed.catchUp()
                for observer in observers where observer.feed === feed {
                    try observer.check(history, from: from, to: feed.connection.version)
                }
            } else {
                let version = UInt64(history.count)
                var changes: [(Connection) throws -> Void] = []
                for _ in 0..<(1 + random.below(3)) {
                    changes.append(Self.change(&rows, &nextID, version, &random))
                }
                if rows == history[history.count - 1] { continue }
                let named = observers.filter { _ in random.oneIn(3) }
                let tokens = named.map { $0.token! }
                if random.oneIn(2) {
                    let connection = feeds[random.below(2)].connection
                    try connection.write(withoutNotifying: tokens) { for change in changes { try change(connection) } }
                } else {
                    try test.store.write(withoutNotifying: tokens) { for change in changes { try change($0) } }
                }
                for observer in named { observer.silent.insert(version) }
                history.append(rows)
            }
        }
        for feed in feeds {
            let from = feed.connection.version
            try feed.catchUp()
            for observer in observers where observer.feed === feed {
                try observer.check(history, from: from, to: feed.connection.version)
            }
        }
    }

    /// A random change of the model, and the same for a store.
    private static func change(
        _ rows: inout [Int: Row], _ nextID: inout Int, _ version: UInt64, _ random: inout SeededRandom
    ) -> (Connection) throws -> Void {
        let ids = rows.keys.sorted()
        let kind = ids.isEmpty ? 0 : random.below(8)
        if kind == 0 {
            let id = nextID
            nextID += 1
            let score = random.below(30)
            rows[id] = Row(id: id, score: score, title: "", changed: version, titleChanged: version)
            return { try $0.add(Note(id: id, score: score)) }
        }
        let id = ids[random.below(ids.count)]
        switch kind {
        case 1:
            rows[id] = nil
            return { connection in
                try connection.delete(try #require(try connection.object(Note.self, forPrimaryKey: id)))
            }
        case 2, 3:
            rows[id]?.title = "\(version)"
            rows[id]?.changed = version
            rows[id]?.titleChanged = version
            return { try #require(try $0.object(Note.self, forPrimaryKey: id)).title = "\(version)" }
        default:
            let score = random.below(30)
            rows[id]?.score = score
            rows[id]?.changed = version
            return { try #require(try $0.object(Note.self, forPrimaryKey: id)).score = score }
        }
    }
}
