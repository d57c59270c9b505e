// Random histories of commits, compared with a plain model.
import StillingWell
import StillingWellFixtures
import Testing

@Suite("Random histories of a store")
struct StoreHistoryTests {
    @Test("change sets lead observers from state to state, however commits are coalesced", arguments: 0..<12)
    func histories(_ round: Int) throws {
        try NoteChecker.checkHistory(
            round, NoteQuery.all.map { query in { try Self.start(query, $0, $1, round % 3 != 0) } })
    }

    /// - Parameter asksForNumbers: whether callbacks read aggregates, which upkeep maintains from then on.
    private static func start(
        _ query: NoteQuery, _ connection: Connection, _ states: Watched<[UInt64: [Int: NoteValue]]>,
        _ asksForNumbers: Bool
    ) throws -> NoteChecker {
        let checker = NoteChecker(query.name, states) {
            [query.evaluate($0).map { ReplayedRow($0.birth, $0.version) }]
        }
        checker.token = try query.live(connection.objects(Note.self)).observe { [unowned checker] change in
            switch change {
            case .initial(let notes), .update(let notes, _):
                checker.told(at: notes.connection.version, change.told) { state in
                    difference(notes, query.evaluate(state), asksForNumbers)
                }
            case .error(let error): checker.violate("\(error)")
            }
        }
        return checker
    }

    private static func difference(
        _ notes: Results<Note>, _ expected: [NoteValue], _ asksForNumbers: Bool
    ) -> String? {
        if notes.map(\.id) != expected.map(\.key) {
            return "shows \(notes.map(\.id)), should show \(expected.map(\.key))"
        }
        for (note, value) in zip(notes, expected)
        where note.score != value.score || note.title != value.title || note.due != value.due || note.done != value.done
        {
            return "reads another version's properties of \(value.key)"
        }
        return asksForNumbers && !hasNumbers(notes, expected) ? "the numbers of other rows" : nil
    }

    /// Compares aggregates. Sums of weights may differ by rounding, because one of the weights, 0.3, is inexact.
    private static func hasNumbers(_ notes: Results<Note>, _ expected: [NoteValue]) -> Bool {
        let scores = expected.map(\.score)
        let groups = expected.compactMap(\.group)
        let dues = expected.compactMap(\.due)
        let weight = expected.reduce(0) { $0 + $1.weight }
        let sum = notes.sum(\.weight)
        return notes.sum(\.score) == scores.reduce(0, +) && notes.max(\.score) == scores.max()
            && notes.average(\.score) == (scores.isEmpty ? nil : Double(scores.reduce(0, +)) / Double(scores.count))
            && notes.sum(\.group) == groups.reduce(0, +) && notes.min(\.group) == groups.min()
            && notes.min(\.due) == dues.min() && notes.max(\.due) == dues.max()
            && (sum == weight || abs(sum - weight) <= 1e-9)
    }
}

extension CollectionChange where Changes == ChangeSet {
    /// The delivered changes. Nil for an initial callback or an error.
    var told: ToldChanges? {
        guard case .update(_, let changes) = self else { return nil }
        return ToldChanges(changes)
    }
}
