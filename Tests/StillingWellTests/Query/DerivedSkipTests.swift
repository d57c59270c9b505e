// Silent writes and derived collections: whoever has taken over what the results show after its own silent write is not
// told of it, its neighbours included, and everything told afterwards starts from there.
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellEngine

@Suite("Silent writes in derived collections")
struct DerivedSkipTests {
    @Test("what is told after a silent write starts from what it left", arguments: 0..<12)
    func histories(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore(durability: .memory)
        let scheduler = ManualScheduler()
        let connection = try test.store.connect(on: .scheduler(scheduler))
        var model = NoteModel()
        let queries = NoteQuery.derived + NoteQuery.text
        let observed = try queries.map { try $0.live(connection.objects(Note.self)) }
        let sections = try connection.objects(Note.self).sorted(by: \.score).sectioned(by: \.title) {
            $0.prefix(1).count
        }
        var shown = [[ObjectID]](repeating: [], count: queries.count)
        var shownSections: [[ObjectID]] = []
        var initials = 0
        var calls = 0
        var tokens = try observed.indices.map { index in
            try observed[index].observe { change in
                if case .initial = change { initials += 1 }
                guard case .update(let notes, let changes) = change else { return }
                calls += 1
                let new = notes.objectIDs
                #expect(ChangeSetReplay.apply(changes, to: &shown[index], id: { $0 }) { new[$0] } == nil)
            }
        }
        tokens.append(
            try sections.observe { change in
                if case .initial = change { initials += 1 }
                guard case .update(let sections, let changes) = change else { return }
                calls += 1
                let new = sections.map(\.objectIDs)
                let problem = ChangeSetReplay.apply(ToldChanges(changes), to: &shownSections, id: { $0 }) {
                    new[$0.section][$0.row]
                }
                #expect(problem == nil)
            })
        defer { for token in tokens { token.invalidate() } }
        try scheduler.turn { initials == tokens.count }
        for step in 0..<60 {
            let isSilent = random.oneIn(2)
            if isSilent {
                try connection.write(withoutNotifying: tokens) {
                    let version = try #require(connection.transaction?.version)
                    try model.change(connection, version: version, &random)
                }
                shown = observed.map(\.objectIDs)
                shownSections = sections.map(\.objectIDs)
            } else {
                for _ in 0...random.below(3) {
                    try test.store.write { try model.change($0, version: $0.version + 1, &random) }
                }
            }
            calls = 0
            try connection.refresh()
            if isSilent { #expect(calls == 0, "step \(step), TIDEGAUGE_SEED=\(seed)") }
            for (index, query) in queries.enumerated() {
                let expected = query.evaluate(model.notes).map { ObjectID(rawValue: UInt64($0.birth)) }
                try #require(shown[index] == expected, "\(query.name), step \(step), TIDEGAUGE_SEED=\(seed)")
            }
            try #require(shownSections == sections.map(\.objectIDs), "sections, step \(step), TIDEGAUGE_SEED=\(seed)")
        }
    }
}
