// The writer threads of a trial in this process. They start together, are watched for progress, and live until their
// CPU clocks have been read. For writers in separate processes see `RemoteWriterGroup`. Used on the conducting thread.
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

final class WriterGroup: WritingSide {
    private static let lookEveryNs: Int64 = 10_000_000
    /// Least time in ns between the readiness of the last writer and the first due commit.
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

    /// Starts the writers and returns when all are ready.
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

    /// Opens the gate, so that the writers start.
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
            // Writers need not make progress while they wait for a future due time, or in lockstep for their observers.
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
            throw TrialFault.harness(
                "\(writer.name) made \(Humanised.count(writer.recorder.overflowCount, "commit")) more than the "
                    + "\(Humanised.grouped(writer.recorder.capacity)) that can be recorded: shorten duration")
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

/// The writing side of a timed trial. `end` releases the writers; their CPU clocks have been read before.
protocol WritingSide: Companion {
    /// Starts the writers and returns the measured window; the warm-up comes before it.
    func launch() throws -> Window
    /// Returns once every writer has made its last commit.
    /// - Parameter look: called about every 10 ms with the time.
    func awaitEnd(look: (Int64) throws -> Void) throws
    /// Returns the records of observers on hosts when they have covered the history, or callbacks have ceased; empty if
    /// there are none.
    /// - Parameter tokens: the tokens of versions that are known only after the trial.
    func settle(_ history: History, _ plan: QueryAssignment, tokens: [Int64: Int64]?) throws -> [Echo]
    var commitsSoFar: Int { get }
    /// Records of each writer in commit order; valid after `awaitEnd`.
    var records: [RecordBuffer<CommitRecord>] { get }
    /// CPU time in ns that writers of this process spent spinning.
    var spunNs: Int64 { get }
    /// Allocation counters of the writer threads in this process.
    var allocations: [ThreadAllocations?] { get }
    /// Number of attempts to commit that the store refused during a fault that explains refusals.
    var refusals: Int { get }
    /// Time in ns from the kill of a writer, or from the moment at which a stopped writer continues, to the next commit
    /// that returned.
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
