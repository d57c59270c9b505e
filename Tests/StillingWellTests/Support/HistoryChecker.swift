// Checks observers in random histories. The rows of each callback equal the model at its version, and each change set
// leads there from the previous rows.
import StillingWell
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellSync
import Testing

/// Checks one observer. Used on its connection's scheduler, except for `violations`, `reached` and `waitForEnd`.
final class HistoryChecker<State: Sendable>: @unchecked Sendable {
    typealias Rows = [[ReplayedRow<Int, UInt64>]]

    let name: String
    /// States by version. Each is written before its commit becomes visible.
    private let states: Watched<[UInt64: State]>
    private let rows: (State) -> Rows
    private let modifications: ChangeSetReplay.Modifications
    private var shown: Rows = []
    private var version: UInt64?
    let violations = Watched<[String]>([])
    let reached = Watched<UInt64>(0)
    var token: NotificationToken?

    /// - Parameter rows: returns the rows of the observed query in a state, in order.
    init(
        _ name: String, _ states: Watched<[UInt64: State]>, _ modifications: ChangeSetReplay.Modifications = .all,
        rows: @escaping (State) -> Rows
    ) {
        (self.name, self.states, self.modifications, self.rows) = (name, states, modifications, rows)
    }

    func violate(_ what: String) { violations.update { $0.append("\(name): \(what)") } }

    /// Checks a callback, unless there was a violation before.
    /// - Parameters:
    ///   - changes: the delivered changes, or nil in the initial callback.
    ///   - difference: returns how the rows shown differ from the state, or nil.
    func told(at newVersion: UInt64, _ changes: ToldChanges?, _ difference: (State) -> String?) {
        guard violations.value.isEmpty else { return }
        if (version == nil) != (changes == nil) { violate("not one initial callback, before all others") }
        if let version, newVersion <= version { violate("version \(newVersion) after \(version)") }
        guard let state = states.value[newVersion] else { return violate("version \(newVersion) was never committed") }
        if let difference = difference(state) { violate("version \(newVersion): \(difference)") }
        let expected = rows(state)
        if let changes,
            let wrong = ChangeSetReplay.violation(changes, from: shown, to: expected, modifications)
        {
            violate("version \(newVersion): \(wrong)")
        }
        shown = expected
        version = newVersion
        reached.update { $0 = newVersion }
    }

    /// Waits until the observer has received the last state. An unchanged query may remain at an older version.
    func waitForEnd(_ end: State, _ seed: UInt64) throws {
        let expected = stamps(end)
        try reached.wait("\(name) to be told, TIDEGAUGE_SEED=\(seed)") { version in
            !violations.value.isEmpty || states.value[version].map { stamps($0) == expected } ?? false
        }
        #expect(violations.value.isEmpty, "TIDEGAUGE_SEED=\(seed): \(violations.value.first ?? "")")
    }

    private func stamps(_ state: State) -> [[[UInt64]]] { rows(state).map { $0.map { [UInt64($0.id), $0.stamp] } } }
}

typealias NoteChecker = HistoryChecker<[Int: NoteValue]>

extension NoteChecker {
    /// Makes an observer with its checker.
    typealias Start = @Sendable (Connection, Watched<[UInt64: State]>) throws -> NoteChecker

    /// Makes 120 random commits while observers on a run loop are checked.
    static func checkHistory(_ round: Int, _ starts: [Start]) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore(durability: round % 2 == 0 ? .memory : .relaxed)
        let states = Watched<[UInt64: [Int: NoteValue]]>([0: [:]])
        var model = NoteModel()
        let thread = RunLoopThread("checker")
        nonisolated(unsafe) var connections: [Connection] = []
        nonisolated(unsafe) var checkers: [NoteChecker] = []
        defer {
            try? thread.performAndWait {
                for checker in checkers { checker.token?.invalidate() }
                connections = []
            }
            thread.stop()
        }
        try thread.performAndWait {
            connections = [try test.store.connect(on: .runLoop)]
            checkers = try starts.map { try $0(connections[0], states) }
        }
        for _ in 0..<120 {
            try test.store.write { connection in
                let version = connection.version + 1
                try model.change(connection, version: version, &random)
                let after = model.notes
                // A commit without changes makes no version, so this state is not used then.
                states.update { $0[version] = after }
            }
            // Commits pile up in most cases. Sometimes the writer waits until the observers' run loop has run a block.
            if random.oneIn(5) { try thread.performAndWait {} }
        }
        for checker in checkers { try checker.waitForEnd(model.notes, seed) }
    }
}
