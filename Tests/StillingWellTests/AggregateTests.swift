import Foundation
import StillingWell
import Testing

@Suite("Aggregates of results")
struct AggregateTests {
    private func withNotes(_ scores: [Int], _ body: (Results<Note>) throws -> Void) throws {
        let test = try TestStore(durability: .memory)
        try test.store.write { connection in
            for (id, score) in scores.enumerated() {
                let note = Note(id: id, score: score, group: score % 2 == 0 ? nil : score)
                note.weight = [Double.nan, -.infinity, Double(score)][min(id, 2)]
                note.due = score == 3 ? nil : Date(timeIntervalSinceReferenceDate: Double(score))
                try connection.add(note)
            }
        }
        try test.store.read { try body($0.objects(Note.self)) }
    }

    @Test("leave out nil and what is not a number, whichever way the rows are sorted")
    func values() throws {
        try withNotes([8, 3, 7, 4, 1]) { notes in
            for ascending in [true, false] {
                let orders = [
                    notes, notes.sorted(by: \.score, ascending: ascending),
                    notes.sorted(by: \.weight, ascending: ascending), notes.sorted(by: \.group, ascending: ascending),
                    notes.sorted(by: \.due, ascending: ascending),
                ]
                for results in orders {
                    #expect(results.min(of: \.score) == 1 && results.max(of: \.score) == 8)
                    #expect(results.min(of: \.weight) == -.infinity && results.max(of: \.weight) == 7)
                    #expect(results.min(of: \.group) == 1 && results.max(of: \.group) == 7)
                    #expect(results.min(of: \.due) == Date(timeIntervalSinceReferenceDate: 1))
                    #expect(results.max(of: \.due) == Date(timeIntervalSinceReferenceDate: 8))
                    #expect(results.sum(of: \.score) == 23 && results.sum(of: \.group) == 11)
                    #expect(results.average(of: \.score) == 4.6 && results.average(of: \.group) == 11.0 / 3)
                }
            }
        }
    }

    @Test("are nil, and the sum 0, where there is nothing")
    func empty() throws {
        try withNotes([2, 4]) { notes in
            let none = notes.where(\.score > 10).sorted(by: \.score)
            #expect(none.min(of: \.score) == nil && none.max(of: \.weight) == nil && none.average(of: \.score) == nil)
            #expect(none.sum(of: \.score) == 0 && none.sum(of: \.weight) == 0)
            #expect(notes.min(of: \.group) == nil && notes.sorted(by: \.group).max(of: \.group) == nil)
            #expect(notes.sum(of: \.group) == 0 && notes.average(of: \.group) == nil)
        }
    }

    @Test("count the rows shown: within a window, and of the first in each group")
    func windows() throws {
        try withNotes([5, 6, 7, 8, 9]) { notes in
            let some = notes.where(\.score >= 6 && \.score < 9).sorted(by: \.score, ascending: false)
            #expect(some.min(of: \.score) == 6 && some.max(of: \.score) == 8 && some.sum(of: \.score) == 21)
            #expect(some.limited(to: 2).min(of: \.score) == 7 && some.limited(to: 0).max(of: \.score) == nil)
            let distinct = notes.sorted(by: \.score).distinct(by: [\.done])
            #expect(distinct.count == 1 && distinct.max(of: \.score) == 5)
        }
    }

    @Test("a sum beyond the range of Int stays at its end, but may go there and come back")
    func overflow() throws {
        try withNotes([.max, 1]) { #expect($0.sum(of: \.score) == .max) }
        try withNotes([.min, -1]) { #expect($0.sum(of: \.score) == .min) }
        try withNotes([.max, 1, -5]) { #expect($0.sum(of: \.score) == .max - 4) }
    }
}
