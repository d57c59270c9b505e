// Random histories of links, lists and deletions, compared with a plain model.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellSync
import Testing

/// Checks the observer of one query. Used on its connection's scheduler.
private final class LinkChecker: @unchecked Sendable {
    let query: LinkQuery
    let checker: HistoryChecker<StoreState>

    init(_ query: LinkQuery, _ states: Watched<[UInt64: StoreState]>) {
        self.query = query
        // A row that left and came back between two deliveries may be a modification for a shallow observer too.
        checker = HistoryChecker(query.name, states, query.isShallow ? .some : .all) {
            [query.evaluate($0).map { ReplayedRow($0.id, $0.stamp) }]
        }
    }

    func start(_ connection: Connection) throws {
        checker.token = try query.observe(connection) { [unowned self, unowned connection] change in
            func told(_ texts: [String], _ changes: ChangeSet?) {
                checker.told(at: connection.version, changes.map { ToldChanges($0) }) { difference(texts, $0) }
            }
            switch change {
            case .initial(let texts): told(texts, nil)
            case .update(let texts, let changes): told(texts, changes)
            case .error(let error): checker.violate("\(error)")
            }
        }
    }

    func stop() { checker.token?.invalidate() }

    private func difference(_ texts: [String], _ state: StoreState) -> String? {
        let expected = query.evaluate(state).map(\.text)
        return texts == expected ? nil : "shows \(texts), should show \(expected)"
    }

    /// Checks the rows shown outside of a callback.
    func checkShown(_ connection: Connection, _ state: StoreState) throws {
        if let wrong = difference(try query.show(connection), state) { checker.violate("at rest: \(wrong)") }
    }
}

@Suite("Random histories of links and lists")
struct LinkHistoryTests {
    @Test("change sets lead observers from state to state, also with filters over links", arguments: 0..<6)
    func histories(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        // Used by one thread at a time: the others wait meanwhile.
        nonisolated(unsafe) var random = SeededRandom(seed: seed)
        let test = try TestStore([Human.self, Dog.self], durability: round % 2 == 0 ? .memory : .relaxed)
        let history = Watched<[UInt64: StoreState]>([:])
        nonisolated(unsafe) var model = StoreModel()
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
            let violations = checker.checker.violations.value
            #expect(violations.isEmpty, "TIDEGAUGE_SEED=\(seed) round \(round): \(violations.first ?? "")")
        }
    }
}
