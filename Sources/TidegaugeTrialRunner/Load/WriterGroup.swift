// Who commits in a trial: threads of this process, started together, watched for progress, kept alive until their CPU clocks
// have been read; or processes of their own (`RemoteWriterGroup`). Used on the conducting thread.
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

final class WriterGroup: WritingSide {
    private static let lookEveryNs: Int64 = 10_000_000
    /// Between the last writer being ready and the first commit due.
    private static let leadNs: Int64 = 5_000_000

    private let spec: TrialSpec
    private let writers: [Writer]
    private var threads: [TracedThread] = []
    private let start = Gate("writers ready")
    private let end = Gate("writers done")
    private let store: any DrivenStore
    let recoveryNs: Int64? = nil

    convenience init(_ setup: TrialSetup, _ hooks: Writer.Hooks) throws {
        let writers = try (0..<setup.spec.writers.threads).map {
            try Writer($0, setup.spec, setup.dataset, shared: setup.plan.shared, hooks: hooks)
        }
        self.init(setup.spec, setup.store, writers)
    }

    init(_ spec: TrialSpec, _ store: any DrivenStore, _ writers: [Writer]) {
        (self.spec, self.store, self.writers) = (spec, store, writers)
    }

    func launch() throws -> Window {
        try begin()
        let earliestNs = MonotonicClock.nowNs() + Self.leadNs + spec.wallNs(spec.warmUpNs)
        return open(spec.turns?.startNs(notBefore: earliestNs) ?? earliestNs)
    }

    /// Starts the writers, and returns when all are ready.
    func begin() throws {
        threads = writers.map { writer in
            TracedThread(writer.name) { [store, start, end] in writer.run(store, start: start, end: end) }
        }
        var deadline = HangDeadline(timeoutNs: spec.hangTimeoutNs)
        // A writer that could not be made skips the first gate and waits at the second.
        while start.arrivals + end.arrivals < writers.count {
            if deadline.hasPassed() { throw TrialFault.hang("a writer did not get ready") }
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + 1_000_000)
        }
    }

    /// Lets them go.
    /// - Returns: the measured window, which begins at `startNs`.
    func open(_ startNs: Int64) -> Window {
        start.open(startNs)
        return Window(startNs: startNs, endNs: startNs + spec.wallNs(spec.durationNs))
    }

    func awaitEnd(look: (Int64) throws -> Void) throws {
        var seen = -1
        var deadline = HangDeadline(timeoutNs: spec.hangTimeoutNs)
        while end.arrivals < writers.count {
            let nowNs = MonotonicClock.nowNs()
            let commits = commitsSoFar
            // A writer that waits for a due time yet to come, or in lockstep for its observers, makes no progress either, and
            // owes none.
            if commits != seen || writers.allSatisfy({ $0.waitsUntilNs > nowNs }) {
                seen = commits
                deadline.restart()
            } else if deadline.hasPassed() {
                throw TrialFault.hang("no commit returned for \(spec.hangTimeoutNs / 1_000_000) ms; \(positions)")
            }
            try look(nowNs)
            Pacing.sleep(untilNs: nowNs + Self.lookEveryNs)
        }
        if let fault = writers.lazy.compactMap(\.fault).first { throw fault }
        if let writer = writers.first(where: { $0.recorder.overflowCount > 0 }) {
            throw TrialFault.harness("\(writer.name) made more commits than could be recorded: shorten the trial")
        }
    }

    private var positions: String { writers.map { "\($0.name) is in commit \($0.commits)" }.joined(separator: ", ") }

    var commitsSoFar: Int { writers.reduce(0) { $0 + $1.commits } }
    var allocations: [ThreadAllocations?] { writers.map(\.allocations) }
    var records: [RecordBuffer<CommitRecord>] { writers.map(\.recorder.records) }
    var spunNs: Int64 { writers.reduce(0) { $0 + $1.spunNs } }
    var refusals: Int { writers.reduce(0) { $0 + $1.refusals } }

    func dismiss() {
        end.open(0)
        for thread in threads { thread.join() }
        threads = []
    }
}

/// The one companion that every trial has: `end` lets the writers go, whose CPU clocks have been read by then.
protocol WritingSide: Companion {
    /// Starts the writers and returns the measured window, which warm-up precedes.
    func launch() throws -> Window
    /// Returns once every writer has made its last commit.
    /// - Parameter look: called every 10 ms with the time.
    func awaitEnd(look: (Int64) throws -> Void) throws
    /// What observers of hosts have recorded, when they have covered all of the history; nothing where there are none.
    /// - Parameter tokens: what versions were given as, where that is known only afterwards.
    func settle(_ history: History, _ plan: QueryAssignment, tokens: [Int64: Int64]?) throws -> [Echo]
    var commitsSoFar: Int { get }
    /// Of each writer, in the order it committed; after `awaitEnd`.
    var records: [RecordBuffer<CommitRecord>] { get }
    /// CPU time that writers of this process spent waiting actively.
    var spunNs: Int64 { get }
    /// Of the writers' threads in this process.
    var allocations: [ThreadAllocations?] { get }
    /// Commits that the store refused and that were made again.
    var refusals: Int { get }
    /// From what was done to a writer to the next commit that returned.
    var recoveryNs: Int64? { get }
    func dismiss()
}

extension WritingSide {
    func settle(_ history: History, _ plan: QueryAssignment, tokens: [Int64: Int64]?) throws -> [Echo] { [] }

    func end(into findings: inout Findings) {
        dismiss()
        findings.recoveryNs = recoveryNs
        findings.refusals = refusals
    }
}
