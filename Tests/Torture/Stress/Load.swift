// State that all actors of a run share. Its properties do not change, except the atomic `stopping`. The objects that
// they hold guard themselves.
import StillingWell
import StillingWellSeededRandom
import Synchronization

final class Load: Sendable {
    /// Address space of the store in bytes, the same in every process.
    static let mapBytes = 16 << 30

    let plan: Plan
    let configuration: Store.Configuration
    let store: Store
    let verdict = Verdict()
    let tally = Tally()
    let gate = Gate()
    let pulse = Pulse()
    let frozen = FrozenReader()
    /// Number of running loops that read an asynchronous sequence of changes.
    let loops = Counter()
    private let stopping = Atomic<Bool>(false)

    init(_ plan: Plan, path: String) throws {
        self.plan = plan
        configuration = Store.Configuration(
            path: path, models: Models.all, durability: plan.durability, mapBytes: Self.mapBytes)
        store = try Store(configuration)
    }

    func fill() throws {
        var random = plan.random("fill")
        let commit = Commit(writer: Plan.setupWriter, plan: plan)
        try store.write { connection in
            try Ledger.add(Plan.setupWriter, connection)
            try commit.fill(SmallRow.self, keys: plan.smallKeys, connection, &random)
            try commit.fill(LargeRow.self, keys: plan.largeKeys, connection, &random)
            try commit.fillBoards(connection, &random)
        }
    }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }
    func stop() { stopping.store(true, ordering: .relaxed) }

    /// Number of times that a feature was exercised.
    func count(of feature: Feature) -> Int { feature == .foreignCommits ? foreignCommits : tally.value(of: feature) }

    var foreignCommits: Int {
        let commits = (try? store.read(Ledger.commits)) ?? [:]
        return commits.filter { Plan.isForeign($0.key) }.values.reduce(0, +)
    }

    /// Whether the run has done this amount of work.
    func hasDone(_ work: Feature.Work) -> Bool {
        switch work {
        case .callbacks(let count): tally.callbackCount >= count
        case .kills(let count): tally.value(of: .kills) >= count
        }
    }

    var workText: String { "\(tally.callbackCount) callbacks and \(tally.value(of: .kills)) kills" }

    /// Runs `body`, and reports a violation if it throws.
    func expectNoError<Result>(_ who: @autoclosure () -> String, _ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            verdict.report(.noError, who(), "\(error)")
            return nil
        }
    }

    /// Makes one write with suppressed notifications for those of `views` that have not ended. They note it before it
    /// becomes visible. Some writes are rolled back, and some time out.
    /// - Returns: whether it was committed.
    func writeSilently(
        _ who: String, _ commit: Commit, _ views: [View], _ random: inout SeededRandom,
        _ write: ([NotificationToken], (Connection) throws -> Void) throws -> Void
    ) -> Bool {
        let lent = views.compactMap { view in view.lend().map { (view: view, token: $0) } }
        defer { for (view, _) in lent { view.giveBack() } }
        let rollsBack = random.oneIn(24)
        let isDone = attempt(who) {
            try write(lent.map(\.token)) { connection in
                let silence = try commit.makeSilently(connection, &random)
                if rollsBack { throw RolledBack() }
                for (view, _) in lent { view.hush(silence) }
            }
        }
        if isDone {
            tally.count(.silentCommits)
            tally.skips.add(lent.count)
        }
        return isDone
    }

    /// Makes one write. Some are rolled back, and some time out. `write` runs a block in a transaction.
    /// - Parameter showsDelivered: whether lists show the last delivery, and so may have deleted elements.
    /// - Returns: whether it was committed.
    func write(
        _ who: String, _ commit: Commit, showsDelivered: Bool = false, _ random: inout SeededRandom,
        _ write: ((Connection) throws -> Void) throws -> Void
    ) -> Bool {
        let rollsBack = random.oneIn(24)
        return attempt(who, showsDelivered: showsDelivered) {
            try write { connection in
                try commit.make(connection, &random)
                if rollsBack { throw RolledBack() }
            }
        }
    }

    /// Makes one write that may time out. `showsDelivered` is as in `write`.
    /// - Returns: whether it was committed.
    func attempt(_ who: String, showsDelivered: Bool = false, _ write: () throws -> Void) -> Bool {
        do {
            try write()
            return true
        } catch is RolledBack {
            tally.count(.rolledBack)
        } catch StoreError.invalidatedObject where showsDelivered {
            tally.count(.refusedChanges)
        } catch StoreError.writeTimedOut {
            tally.count(.timedOut)
        } catch {
            verdict.report(.noError, who, "\(error)")
        }
        return false
    }
}
