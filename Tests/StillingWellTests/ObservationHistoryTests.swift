// Random histories of several connections, compared with a plain model. The store updates observed queries after each
// commit, or after several at once.
// `STILLINGWELL_HISTORY_SEEDS` is the number of histories of each kind, `STILLINGWELL_HISTORY_COMMITS` the version at
// which each ends, and `TIDEGAUGE_SEED` the first seed.
import Foundation
import StillingWellFixtures
import StillingWellSeededRandom
import Testing

@testable import StillingWell

private struct Violation: Error, CustomStringConvertible {
    let description: String
}

/// Recent states, from the oldest one that a connection is at, or before.
private struct States {
    private var first: UInt64 = 0
    private var states: [StoreState] = [StoreState()]

    var last: StoreState { states[states.count - 1] }
    var lastVersion: UInt64 { first + UInt64(states.count) - 1 }
    subscript(version: UInt64) -> StoreState { states[Int(version - first)] }

    mutating func append(_ state: StoreState, oldestUsed: UInt64) {
        states.append(state)
        if oldestUsed > first + 64 {
            states.removeFirst(Int(oldestUsed - first - 1))
            first = oldestUsed - 1
        }
    }
}

/// One observer and its expected state.
private final class Judge {
    /// A row as the observer knows it.
    struct Known: Equatable {
        var place: ModelPlace
        var stamp: UInt64
    }

    let view: ModelView
    let kind: ObservedKind
    private(set) var token: NotificationToken!
    private var known: [UInt64: Known] = [:]
    private var told: (changes: ToldChanges?, ids: [[UInt64]])?
    private var calls = 0
    /// Versions that are suppressed for this observer and not delivered yet.
    var silent: [UInt64] = []

    init(_ view: ModelView, _ kind: ObservedKind, _ connection: Connection) throws {
        self.view = view
        self.kind = kind
        token = try view.observe(connection, kind) { [unowned self] changes, ids in
            told = (changes, ids)
            calls += 1
        }
    }

    var wasCalled: Bool { calls > 0 }
    /// Whether the initial callback has been checked.
    private(set) var hasBegun = false
    private var name: String { "\(view.name) by \(kind)" }

    /// Checks the initial callback.
    func begin(_ state: StoreState) throws {
        guard calls == 1, let told, told.changes == nil else { throw fault("\(calls) calls, none of them initial") }
        known = rows(state)
        hasBegun = true
        guard told.ids == view.shown(known.values.map(\.place)) else {
            throw fault("initial \(told.ids), should be \(view.shown(known.values.map(\.place)))")
        }
        self.told = nil
        calls = 0
    }

    /// Checks a delivery that led to a version.
    func check(_ states: States, to: UInt64) throws {
        guard hasBegun else {
            // Suppressed commits up to this version are part of the initial rows.
            silent.removeAll { wasCalled && $0 <= to }
            return wasCalled ? try begin(states[to]) : ()
        }
        for version in silent where version <= to { beSilent(states[version - 1], states[version]) }
        silent.removeAll { $0 <= to }
        let new = rows(states[to])
        defer {
            known = new
            told = nil
            calls = 0
        }
        let (oldIDs, newIDs) = (view.shown(known.values.map(\.place)), view.shown(new.values.map(\.place)))
        let newSet = Set(newIDs.joined())
        let modified = oldIDs.joined().filter { id in
            kind != .nothing && newSet.contains(id) && new[id]!.stamp != known[id]!.stamp
        }
        guard let told else {
            if oldIDs == newIDs, modified.isEmpty { return }
            throw fault("not called, but \(oldIDs) became \(newIDs), modified \(modified)")
        }
        guard calls == 1, let changes = told.changes else { throw fault("\(calls) calls, or initial again") }
        guard told.ids == newIDs else { throw fault("shows \(told.ids), should show \(newIDs)") }
        let wrong = ChangeSetReplay.violation(
            changes, from: oldIDs.map { $0.map { ReplayedRow($0, known[$0]!.stamp) } },
            to: newIDs.map { $0.map { ReplayedRow($0, new[$0]!.stamp) } },
            mayMove: { new[$0]!.place != self.known[$0]!.place })
        if let wrong { throw fault(wrong) }
        let gone = oldIDs.joined().filter { !newSet.contains($0) }
        if changes.deletedIDs.map(\.rawValue) != gone { throw fault("deleted \(changes.deletedIDs), not \(gone)") }
    }

    private func rows(_ state: StoreState) -> [UInt64: Known] {
        let rows = view.rows(state)
        return view.places(state).mapValues { Known(place: $0, stamp: rows[$0.id]!.stamps[kind.rawValue]) }
    }

    /// Applies a suppressed commit.
    private func beSilent(_ before: StoreState, _ after: StoreState) {
        let (was, now) = (rows(before), rows(after))
        let (all, left) = (view.rows(before), view.rows(after))
        for id in Set(all.keys).union(left.keys) {
            if let now = now[id] {
                if known[id] == was[id] { known[id] = now }
            } else if was[id] != nil || left[id] == nil {
                known[id] = nil
            }
        }
    }

    private func fault(_ what: String) -> Violation { Violation(description: "\(name): \(what)") }
}

/// One connection with its observers and the rows it shows.
private final class Seat {
    let feed: Feed
    var judges: [Judge] = []
    /// Rows that own commits since the last delivery concern, for each view.
    private var overlays: [[UInt64: ModelPlace?]]
    /// Views that are read between deliveries, or nil.
    private let shows: [() -> [[UInt64]]]?
    private(set) var hasOwn = false
    var connection: Connection { feed.connection }
    /// Observers whose initial callback has not come yet.
    var waiting: [Judge] { judges.filter { !$0.hasBegun } }

    init(_ store: Store, isRead: Bool) throws {
        let feed = try Feed(store)
        self.feed = feed
        shows = isRead ? try ModelView.all.map { try $0.show(feed.connection) } : nil
        overlays = ModelView.all.map { _ in [:] }
    }

    deinit { for judge in judges { judge.token.invalidate() } }

    /// Applies an own commit to the rows shown.
    func note(_ writes: StoreWrites, _ state: StoreState, delivered: StoreState) {
        hasOwn = true
        if shows == nil { return }
        for (index, view) in ModelView.all.enumerated() {
            let rows = view.rows(state)
            var touched = Set((view.isOfDogs ? writes.dogs : writes.humans).keys)
            for (id, row) in rows where view.rows(delivered)[id] != nil || overlays[index][id] != nil {
                if view.read(row, state).contains(where: { writes.humans[$0] != nil }) { touched.insert(id) }
            }
            for id in touched { overlays[index][id] = .some(rows[id].flatMap { view.place(id, $0, state) }) }
        }
    }

    func checkShown(_ states: States, _ when: String) throws {
        guard let shows else { return }
        let state = states[connection.version]
        for (index, view) in ModelView.all.enumerated() {
            var places = view.places(state)
            for (id, place) in overlays[index] { places[id] = place }
            let (shown, expected) = (shows[index](), view.shown(places.values))
            guard shown == expected else {
                throw Violation(description: "\(view.name) shows \(shown) \(when), should show \(expected)")
            }
        }
    }

    /// Runs `body` and restores the state of own commits afterwards.
    func keepingOwn(_ body: () throws -> Void) rethrows {
        let kept = (overlays, hasOwn)
        try body()
        (overlays, hasOwn) = kept
    }

    /// Discards own commits.
    func forget() {
        overlays = ModelView.all.map { _ in [:] }
        hasOwn = false
    }

    /// Checks a delivery.
    func judge(_ states: States, from: UInt64) throws {
        let to = connection.version
        if to != from { forget() }
        for judge in judges { try judge.check(states, to: to) }
    }
}

/// One history.
private final class History {
    private let test: TestStore
    private let gate: HeldUpkeep
    private var seats: [Seat] = []
    private var states = States()
    private var model = StoreModel()
    private var random: SeededRandom

    /// - Parameter isRead: whether views are read between deliveries. This also evaluates queries without an observer.
    init(_ seed: UInt64, isRead: Bool) throws {
        random = SeededRandom(seed: seed)
        test = try TestStore([Human.self, Dog.self], durability: .memory)
        gate = try HeldUpkeep(test.store)
        try test.store.write { try model.start($0, version: 1) }
        states.append(model.state, oldestUsed: 0)
        for _ in 0..<(2 + random.below(2)) { seats.append(try Seat(test.store, isRead: isRead)) }
    }

    var version: UInt64 { states.lastVersion }

    func run(commits: Int) throws {
        for seat in seats { for _ in 0..<3 { try addObserver(seat) } }
        while states.lastVersion < commits {
            let seat = seats[random.below(seats.count)]
            switch random.below(16) {
            case 0: try addObserver(seat)
            case 1:
                if seat.judges.count > 2 { seat.judges.remove(at: random.below(seat.judges.count)).token.invalidate() }
            case 2:
                // If autorefresh ended now, a waiting observer might be told of commits that were suppressed for it.
                if seat.connection.autorefresh, seat.waiting.contains(where: { !$0.silent.isEmpty }) {
                    try settle(seat)
                }
                seat.connection.autorefresh.toggle()
            case 3, 4, 5: try deliver(seat)
            case 6: if gate.isClosed { try gate.open() } else { try gate.close() }
            default: try commit(random.oneIn(2) ? seat : nil)
            }
        }
        try gate.open()
        for seat in seats { try settle(seat) }
        for seat in seats { try refresh(seat) }
    }

    // MARK: Steps

    private func commit(_ seat: Seat?) throws {
        // If the log is pruned behind a waiting observer, changes are found by value. So initial callbacks come first.
        if states.lastVersion % 64 == 63 { for seat in seats { try settle(seat) } }
        var named: [Judge] = []
        if random.oneIn(2) { named = seats.flatMap(\.judges).filter { _ in random.oneIn(2) } }
        // The write skips the observers in `named`, sometimes without those whose changes depend on other rows.
        if random.oneIn(2) { named.removeAll { $0.token.state.dependsOnOthers } }
        let tokens = named.map { $0.token! }
        let version = states.lastVersion + 1
        func change(_ connection: Connection) throws {
            try model.change(connection, version: version, &random, isBehind: seat != nil)
            if let seat {
                seat.note(model.writes, model.state, delivered: states[seat.connection.version])
                try seat.checkShown(states, "in its write")
            }
            states.append(model.state, oldestUsed: seats.map(\.connection.version).min()!)
        }
        if let seat {
            if random.oneIn(4) { try cancelWrite(seat, change) }
            try seat.connection.write(withoutNotifying: tokens) { try change(seat.connection) }
            try seat.checkShown(states, "after its write")
        } else {
            try test.store.write(withoutNotifying: tokens) { try change($0) }
        }
        for judge in named { judge.silent.append(version) }
        if !gate.isClosed { try gate.open() }
    }

    private struct Cancelled: Error {}

    /// Makes a write that is cancelled, and restores the model.
    private func cancelWrite(_ seat: Seat, _ change: (Connection) throws -> Void) throws {
        let (before, kept) = (model, states)
        let byHand = random.oneIn(2)
        try seat.keepingOwn {
            if byHand {
                try seat.connection.beginWrite()
                try change(seat.connection)
                return try seat.connection.cancelWrite()
            }
            #expect(throws: Cancelled.self) {
                try seat.connection.write {
                    try change(seat.connection)
                    throw Cancelled()
                }
            }
        }
        (model, states) = (before, kept)
        try seat.checkShown(states, "after a cancelled write")
    }

    private func deliver(_ seat: Seat) throws {
        if !gate.isClosed, random.oneIn(2) { return try refresh(seat) }
        let from = seat.connection.version
        seat.feed.scheduler.turnNow()
        try seat.judge(states, from: from)
        if random.oneIn(4) { try seat.checkShown(states, "after a turn") }
    }

    private func refresh(_ seat: Seat) throws {
        let from = seat.connection.version
        _ = try seat.connection.refresh()
        try seat.judge(states, from: from)
        try seat.checkShown(states, "after a refresh")
    }

    /// Adds an observer. There may be commits before its initial callback.
    private func addObserver(_ seat: Seat) throws {
        guard seat.judges.count < 8 else { return }
        let waits = random.oneIn(2)
        let isPruned = seat.connection.version / 64 != states.lastVersion / 64
        if gate.isClosed, !waits || seat.hasOwn || isPruned { try gate.open() }
        // An initial callback does not contain own writes.
        if seat.hasOwn || isPruned { try refresh(seat) }
        if waits, !gate.isClosed, random.oneIn(2) { try gate.close() }
        let view = ModelView.all[random.below(ModelView.all.count)]
        seat.judges.append(try Judge(view, view.kinds[random.below(view.kinds.count)], seat.connection))
        if !waits { try settle(seat) }
    }

    /// Waits for the initial callbacks that are still to come.
    private func settle(_ seat: Seat) throws {
        if seat.waiting.isEmpty { return }
        if gate.isClosed { try gate.open() }
        while !seat.waiting.isEmpty {
            let from = seat.connection.version
            try seat.feed.scheduler.turn()
            try seat.judge(states, from: from)
        }
    }
}

@Suite("Random histories of observers")
struct ObservationHistoryTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    /// Short histories do not read queries without an observer.
    @Test("every observer is told and shown what the model computes", arguments: [(150, 12, true), (30, 80, false)])
    func histories(_ commits: Int, _ seeds: Int, isRead: Bool) throws {
        let commits = Self.number("STILLINGWELL_HISTORY_COMMITS") ?? commits
        for offset in 0..<(Self.number("STILLINGWELL_HISTORY_SEEDS") ?? seeds) {
            let seed = SeededRandom.base &+ UInt64(offset)
            let history = try History(seed, isRead: isRead)
            do {
                try history.run(commits: commits)
            } catch {
                Issue.record("TIDEGAUGE_SEED=\(seed), after version \(history.version): \(error)")
                return
            }
        }
    }
}
