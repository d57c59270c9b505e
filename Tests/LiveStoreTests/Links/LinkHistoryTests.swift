// Random histories of links, lists and deletions against a plain model: every observer is led from state to state by
// change sets, sees what the query should show at that version, and is told exactly the rows that were written or lead
// to such a row, however commits are coalesced. Own writes are shown at once, over links too.
import Foundation
import LiveStore
import Testing
import TracedSync

/// Watches one query and checks each callback as it comes. Used on its connection's scheduler.
private final class LinkChecker: @unchecked Sendable {
    let query: LinkQuery
    private let history: Watched<[UInt64: LinkState]>
    private var shown: [LinkRow] = []
    private var version: UInt64?
    let violations = Watched<[String]>([])
    private(set) var token: NotificationToken?

    init(_ query: LinkQuery, _ history: Watched<[UInt64: LinkState]>) {
        self.query = query
        self.history = history
    }

    func start(_ connection: Connection) throws {
        token = try query.observe(connection) { [unowned self, unowned connection] change in
            guard violations.value.isEmpty else { return }
            switch change {
            case .initial(let texts):
                if version != nil { violate("a second initial callback") }
                move(connection.version, texts, nil)
            case .update(let texts, let changes):
                if version == nil { violate("an update before the initial callback") }
                move(connection.version, texts, changes)
            case .error(let error): violate("\(error)")
            }
        }
    }

    func stop() { token?.invalidate() }

    /// Checks what is shown without a callback.
    func checkShown(_ connection: Connection, _ state: LinkState) throws {
        let texts = try query.show(connection)
        let expected = query.evaluate(state).map(\.text)
        if texts != expected { violate("shows \(texts) at rest, should show \(expected)") }
    }

    private func violate(_ what: String) { violations.update { $0.append("\(query.name): \(what)") } }

    private func move(_ newVersion: UInt64, _ texts: [String], _ changes: ChangeSet?) {
        if let version, newVersion <= version { violate("version \(newVersion) after \(version)") }
        guard let state = history.value[newVersion] else { return violate("version \(newVersion) is unknown") }
        let expected = query.evaluate(state)
        if texts != expected.map(\.text) {
            violate("shows \(texts) at version \(newVersion), should show \(expected.map(\.text))")
        }
        if let changes { check(changes, to: expected, newVersion) }
        shown = expected
        version = newVersion
    }

    private func check(_ changes: ChangeSet, to expected: [LinkRow], _ newVersion: UInt64) {
        if changes.isEmpty { violate("an empty change set") }
        var replayed = shown
        for index in changes.deletions.reversed() {
            guard index < replayed.count else { return violate("deletion out of \(shown.count) rows") }
            replayed.remove(at: index)
        }
        for index in changes.insertions {
            guard index <= replayed.count, index < expected.count else { return violate("insertion at \(index)") }
            replayed.insert(expected[index], at: index)
        }
        if replayed.map(\.id) != expected.map(\.id) { violate("\(changes) does not lead from \(shown) to \(expected)") }
        let old = Dictionary(uniqueKeysWithValues: shown.map { ($0.id, $0) })
        let inserted = Set(changes.insertions)
        let changed = expected.indices.filter { index in
            old[expected[index].id].map { $0.stamp != expected[index].stamp } ?? false
        }
        let modified = changed.filter { !inserted.contains($0) }
        // A row that left and came back between two deliveries is a modification even to a shallow observer.
        let isRight =
            query.isShallow
            ? Set(changes.modificationsNew).isSubset(of: modified) : changes.modificationsNew == modified
        if !isRight {
            violate("version \(newVersion): modifications \(changes.modificationsNew), should be \(modified)")
        }
        for index in inserted where old[expected[index].id] != nil && !changed.contains(index) {
            violate("row \(index), which nobody wrote, is reported as moved")
        }
    }
}

@Suite("Random histories of links and lists")
struct LinkHistoryTests {
    @Test("observers are led from state to state, over links too", arguments: 0..<6)
    func histories(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        // Used by one thread at a time: the others wait meanwhile.
        nonisolated(unsafe) var random = SeededRandom(seed: seed)
        let test = try TestStore([Human.self, Dog.self], durability: round % 2 == 0 ? .memory : .relaxed)
        let history = Watched<[UInt64: LinkState]>([:])
        nonisolated(unsafe) var model = LinkModel()
        try test.store.write { connection in
            try model.start(connection, version: connection.version + 1)
            let state = model.state
            history.update { $0[connection.version + 1] = state }
        }
        let thread = RunLoopThread("links")
        let queue = DispatchQueue(label: "links")
        let onThread = LinkQuery.all.map { LinkChecker($0, history) }
        let onQueue = LinkQuery.all.map { LinkChecker($0, history) }
        let late = LinkQuery.all.map { LinkChecker($0, history) }
        nonisolated(unsafe) var onLoop: Connection?
        nonisolated(unsafe) var onOther: Connection?
        defer {
            try? thread.performAndWait {
                for checker in onThread + late { checker.stop() }
                onLoop = nil
            }
            queue.sync {
                for checker in onQueue { checker.stop() }
                onOther = nil
            }
            thread.stop()
        }
        try thread.performAndWait {
            onLoop = try test.store.connect(on: .runLoop)
            for checker in onThread { try checker.start(onLoop!) }
        }
        try queue.sync {
            onOther = try test.store.connect(on: .queue(queue))
            for checker in onQueue { try checker.start(onOther!) }
        }

        for commit in 0..<80 {
            if commit == 40 { try thread.performAndWait { for checker in late { try checker.start(onLoop!) } } }
            @Sendable func change(_ connection: Connection) throws {
                let version = connection.version + 1
                try model.change(connection, version: version, &random)
                let state = model.state
                history.update { $0[version] = state }
            }
            if random.oneIn(4) {
                try thread.performAndWait {
                    _ = try onLoop!.refresh()
                    for checker in onThread { try checker.checkShown(onLoop!, model.state) }
                    try onLoop!.write {
                        try change(onLoop!)
                        for checker in onThread { try checker.checkShown(onLoop!, model.state) }
                    }
                    for checker in onThread { try checker.checkShown(onLoop!, model.state) }
                }
            } else {
                try test.store.write { try change($0) }
            }
            if random.oneIn(6) { try thread.performAndWait {} }
        }
        try thread.performAndWait { _ = try onLoop!.refresh() }
        try queue.sync { _ = try onOther!.refresh() }
        let state = model.state
        try thread.performAndWait { for checker in onThread + late { try checker.checkShown(onLoop!, state) } }
        try queue.sync { for checker in onQueue { try checker.checkShown(onOther!, state) } }
        for checker in onThread + onQueue + late {
            let violations = checker.violations.value
            #expect(violations.isEmpty, "TIDEGAUGE_SEED=\(seed) round \(round): \(violations.first ?? "")")
        }
    }
}
