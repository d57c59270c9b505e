import Foundation
import StillingWell
import Testing

@Suite("Aggregates of results")
struct AggregateTests {
    @Test("ignore nil and NaN, in any order of the rows")
    func values() throws {
        let test = try TestStore(durability: .memory)
        try test.store.write { connection in
            for (id, score) in [8, 3, 7, 4, 1].enumerated() {
                let note = Note(id: id, score: score, group: score % 2 == 0 ? nil : score)
                note.weight = [Double.nan, -.infinity, Double(score)][min(id, 2)]
                note.due = score == 3 ? nil : Date(timeIntervalSinceReferenceDate: Double(score))
                try connection.add(note)
            }
        }
        try test.store.read { connection throws in
            let notes = try connection.objects(Note.self)
            for ascending in [true, false] {
                let orders = [
                    notes, notes.sorted(by: \.score, ascending: ascending),
                    notes.sorted(by: \.weight, ascending: ascending), notes.sorted(by: \.group, ascending: ascending),
                    notes.sorted(by: \.due, ascending: ascending),
                ]
                for results in orders {
                    #expect(results.min(\.score) == 1 && results.max(\.score) == 8)
                    #expect(results.min(\.weight) == -.infinity && results.max(\.weight) == 7)
                    #expect(results.min(\.group) == 1 && results.max(\.group) == 7)
                    #expect(results.min(\.due) == Date(timeIntervalSinceReferenceDate: 1))
                    #expect(results.max(\.due) == Date(timeIntervalSinceReferenceDate: 8))
                    #expect(results.sum(\.score) == 23 && results.sum(\.group) == 11)
                    #expect(results.average(\.score) == 4.6 && results.average(\.group) == 11.0 / 3)
                }
            }
        }
    }
}
