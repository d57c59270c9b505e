// Rule 7. Random own and foreign writes on one connection: at every moment a collection shows the delivered rows with the
// connection's own writes on them, chosen (limited, distinct, by text) as a fresh evaluation of those rows would.
import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellEngine

@Suite("Rule 7: own writes in derived collections")
struct Rule07DerivedOwnWriteTests {
    /// The rows that a connection has written since its last delivery, by birth; nil for deleted ones. Not by key: one
    /// that was deleted by somebody else and has come back is shown as two rows until the next delivery.
    private typealias Overlay = [Int: NoteValue?]

    private static func shown(_ state: [Int: NoteValue], _ overlay: Overlay) -> [Int: NoteValue] {
        var rows = state
        for (birth, value) in overlay { rows[birth] = value }
        return rows
    }

    private static func byBirth(_ model: NoteModel) -> [Int: NoteValue] {
        Dictionary(uniqueKeysWithValues: model.notes.values.map { ($0.birth, $0) })
    }

    @Test("show what a fresh evaluation would", arguments: 0..<20)
    func histories(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore(durability: .memory)
        var model = NoteModel()
        var states: [UInt64: [Int: NoteValue]] = [0: [:]]
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        let queries = NoteQuery.derived + NoteQuery.text
        let observed = try queries.map { try $0.live(connection.objects(Note.self)) }
        let calls = Watched(0)
        // Every other one is evaluated where it is read.
        let tokens = try observed.indices.filter { $0 % 2 == 0 }.map { index in
            try observed[index].observe { _ in calls.update { $0 += 1 } }
        }
        defer { for token in tokens { token.invalidate() } }
        var overlay: Overlay = [:]
        func check(_ what: Comment) throws {
            let rows = Self.shown(try #require(states[connection.version]), overlay)
            for (query, notes) in zip(queries, observed) {
                // Not by properties: a row of our own that somebody else deleted before it was delivered has none left.
                let expected = query.evaluate(rows).map { UInt64($0.birth) }
                try #require(
                    notes.objectIDs.map(\.rawValue) == expected, "\(query.name) \(what), TIDEGAUGE_SEED=\(seed)")
            }
        }
        for _ in 0..<60 {
            switch random.below(4) {
            case 0:
                try test.store.write { foreign in
                    let version = foreign.version + 1
                    try model.change(foreign, version: version, &random)
                    states[version] = Self.byBirth(model)
                }
                try check("after a foreign write")
            case 1, 2:
                try connection.write {
                    let version = try #require(connection.transaction?.version)
                    let before = Self.byBirth(model)
                    try model.change(connection, version: version, &random)
                    let after = Self.byBirth(model)
                    for birth in Set(before.keys).union(after.keys) where before[birth] != after[birth] {
                        overlay[birth] = .some(after[birth])
                    }
                    try check("inside a write")
                    states[version] = Self.byBirth(model)
                }
                try check("after a write")
            default:
                if connection.refreshForTest(scheduler) { overlay = [:] }
                try check("after a turn")
            }
        }
    }
}

extension Connection {
    /// Takes the turns there are without waiting; true when a delivery came.
    fileprivate func refreshForTest(_ scheduler: ManualScheduler) -> Bool {
        let before = epoch
        scheduler.turnNow()
        return epoch != before
    }
}
