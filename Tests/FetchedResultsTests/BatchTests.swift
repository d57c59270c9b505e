import FetchedResults
import StillingWell
import StillingWellFixtures
import StillingWellSeededRandom
import Testing

@Suite("A batch of a controller, from willChangeContent to didChangeContent") struct BatchTests {
    private static let byQuay = FetchRequest(Boat.self) { $0.sorted(by: \.length) }.sectioned(by: \.quay)

    enum Stop: CaseIterable {
        case forgetDelegate, invalidate, fetch

        func callAsFunction(_ controller: FetchedResultsController<Boat>) throws {
            switch self {
            case .forgetDelegate: controller.delegate = nil
            case .invalidate: controller.invalidate()
            case .fetch: try controller.performFetch()
            }
        }
    }

    /// Deletes a section, adds one, and changes two rows of one that remains.
    private static func changeMuch(_ connection: Connection) throws {
        for number in [0, 3, 6] { try connection.delete(boat(number, connection)) }
        for number in [10, 11] { try connection.add(Boat(number, length: 1, quay: 7)) }
        try boat(4, connection).name = "renamed"
        try boat(1, connection).length = 100
    }

    @Test(
        "a batch ends early if the delegate is set to nil, the controller ends, or a fetch begins",
        arguments: Stop.allCases)
    func stops(_ stop: Stop) throws {
        for callback in Table.Callback.allCases {
            let boats = try BoatStore()
            try boats.add(0..<9)
            let desk = try Desk(boats.store, Self.byQuay)
            #expect(try desk.fetch())
            var calls = 0
            var isStopped = false
            desk.table.whenCalled = { seen, controller in
                calls += 1
                guard seen == callback, !isStopped else { return }
                isStopped = true
                calls = 0
                #expect(throws: Never.self) { try stop(controller) }
                desk.table.abandonBatch()
            }
            try boats.store.write(Self.changeMuch)
            try desk.scheduler.turn { isStopped }
            // After a fetch inside a callback, one more batch follows: the first of that fetch, without changes.
            if stop != .fetch { #expect(calls == 0, "after \(stop) in \(callback)") }
            #expect(desk.table.problems.isEmpty, "after \(stop) in \(callback): \(desk.table.problems)")
            if stop == .fetch { try desk.scheduler.turn { calls == 2 } }
            #expect(desk.controller.sections.map(\.objectCount) == [3, 3, 2])
            desk.controller.invalidate()
        }
    }

    @Test(
        "a write during a batch, by this connection or another, changes neither the shown rows nor the version of the batch"
    )
    func oneVersion() throws {
        for callback in Table.Callback.allCases {
            let boats = try BoatStore()
            try boats.add(0..<9)
            let desk = try Desk(boats.store, Self.byQuay)
            #expect(try desk.fetch())
            var rounds = 0
            desk.table.whenCalled = { seen, controller in
                guard seen == callback, rounds == 0 else { return }
                rounds += 1
                #expect(throws: Never.self) {
                    try desk.connection.write {
                        for number in [1, 2, 10] { try desk.connection.delete(boat(number, desk.connection)) }
                        for number in 20..<25 {
                            try desk.connection.add(Boat(number, length: -number, quay: -number % 2))
                        }
                    }
                    try boats.store.write { try $0.add(Boat(30, length: -100, quay: -9)) }
                }
            }
            try boats.store.write(Self.changeMuch)
            try desk.scheduler.turn { desk.table.sections.first?.count == 1 }
            #expect(desk.table.problems.isEmpty, "written in \(callback): \(desk.table.problems)")
            #expect(desk.controller.sections.map(\.name) == ["-9", "-1", "0", "1", "2", "7"])
            #expect(try desk.isRight(Self.byQuay, boats.store))
            desk.controller.invalidate()
        }
    }

    @Test("a view that applies the changes shows what the controller shows", arguments: seeds(30))
    func histories(_ seed: UInt64) throws { try ReentrantHistory(seed: seed).run(steps: 40) }
}

/// A random history: writes by several writers, and a delegate that calls the controller from any callback.
private final class ReentrantHistory {
    private static let requests = [
        FetchRequest(Boat.self) { $0.sorted(by: \.length) }.sectioned(by: \.quay),
        FetchRequest(Boat.self) { $0.sorted(by: \.length) }.sectioned(by: \.length, ascending: false) { $0 / 8 },
        FetchRequest(Boat.self) { $0.where(\.length >= 4).sorted(by: \.length, ascending: false) },
        FetchRequest(Boat.self) { $0.sorted(by: \.name).limited(to: 6) },
    ]

    private let seed: UInt64
    private var random: SeededRandom
    private let boats = try! BoatStore()
    private let desk: Desk
    private var next = 100
    /// Whether no batch of the last fetch has begun yet.
    private var awaitsFirst = false
    /// Whether the delegate has stopped the delivery.
    private var isEnded = false

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        try boats.add(0..<20)
        desk = try Desk(boats.store, Self.requests[0])
        desk.table.whenCalled = { [unowned self] callback, controller in
            if callback == .will { awaitsFirst = false }
            if random.below(6) == 0 {
                do { try act(controller) } catch { Issue.record("\(error)") }
            }
        }
    }

    func run(steps: Int) throws {
        try fetch(desk.controller)
        for step in 0..<steps {
            for _ in 0...random.below(3) {
                if random.below(3) == 0 {
                    try desk.connection.write { try change(desk.connection) }
                } else {
                    try boats.store.write(change)
                }
            }
            try settle()
            let shown = Table.shown(desk.controller)
            #expect(desk.table.problems.isEmpty, "step \(step), TIDEGAUGE_SEED=\(seed): \(desk.table.problems)")
            #expect(desk.table.sections == shown, "step \(step), TIDEGAUGE_SEED=\(seed)")
            if !desk.table.problems.isEmpty || desk.table.sections != shown { return }
        }
        desk.controller.invalidate()
    }

    /// Fetches and reads everything, like a user interface that starts again.
    private func fetch(_ controller: FetchedResultsController<Boat>) throws {
        controller.fetchRequest = Self.requests[random.below(Self.requests.count)]
        try controller.performFetch()
        awaitsFirst = true
        desk.table.abandonBatch()
        desk.table.reload(controller)
    }

    private func act(_ controller: FetchedResultsController<Boat>) throws {
        switch random.below(6) {
        case 0, 1: try desk.connection.write { try change(desk.connection) }
        case 2: try boats.store.write(change)
        case 3: try fetch(controller)
        case 4:
            controller.invalidate()
            isEnded = true
        default:
            controller.delegate = nil
            isEnded = true
        }
        if isEnded { desk.table.abandonBatch() }
    }

    /// Delivers until nothing is pending. Fetches again if the delegate has stopped the delivery.
    private func settle() throws {
        repeat {
            if isEnded {
                isEnded = false
                desk.controller.delegate = desk.table
                try fetch(desk.controller)
            }
            try desk.scheduler.turn { !self.awaitsFirst || self.isEnded }
            // A callback may have written while this was being delivered.
            while try desk.connection.version < boats.store.read(\.version) { try desk.connection.refresh() }
        } while isEnded || awaitsFirst
    }

    private func change(_ connection: Connection) throws {
        for _ in 0..<random.below(6) {
            // A row that another connection has deleted is shown until the deletion is delivered.
            let all = try connection.objects(Boat.self).filter { !$0.isInvalidated }
            switch all.isEmpty ? 0 : random.below(5) {
            case 0:
                try connection.add(Boat(next, length: random.below(30), quay: random.below(4)))
                next += 1
            case 1: try connection.delete(all[random.below(all.count)])
            case 2: all[random.below(all.count)].quay = random.below(5) == 0 ? nil : random.below(6)
            case 3: all[random.below(all.count)].length = random.below(30)
            default: all[random.below(all.count)].name = "\(random.below(1_000))"
            }
        }
    }
}
