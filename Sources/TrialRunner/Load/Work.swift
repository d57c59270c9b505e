// All writers of a trial: started together, watched for progress, kept alive until their CPU clocks have been read. Runs
// on the conducting thread.
import Foundation
import Measure
import Scenario
import StoreDriver
import TracedSync
import Trials

/// The writing side of one trial.
final class Work {
    private static let lookEveryNs: Int64 = 10_000_000
    /// Between the last writer being ready and the first commit due.
    private static let leadNs: Int64 = 5_000_000

    private let spec: TrialSpec
    let writers: [Writer]
    private var threads: [TracedThread] = []
    private let start = Gate("writers ready")
    private let end = Gate("writers done")
    private let store: any DrivenStore

    init(
        _ spec: TrialSpec, _ dataset: Dataset, _ plan: QueryAssignment, _ store: any DrivenStore,
        _ company: Writer.Company
    )
        throws
    {
        self.spec = spec
        self.store = store
        let cores = ProcessInfo.processInfo.activeProcessorCount
        writers = try (0..<spec.writers.threads).map {
            try Writer($0, spec: spec, dataset: dataset, shared: plan.shared, cores: cores, company: company)
        }
    }

    /// Starts the writers and returns the measured window, which warm-up precedes.
    func launch() throws -> Window {
        threads = writers.map { writer in
            TracedThread(writer.name) { [store, start, end] in writer.run(store, start: start, end: end) }
        }
        var deadline = HangDeadline(timeoutNs: spec.hangTimeoutNs)
        // A writer that could not be made skips the first gate and waits at the second.
        while start.arrivals + end.arrivals < writers.count {
            if deadline.hasPassed() { throw TrialFault.hang("a writer did not get ready") }
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + 1_000_000)
        }
        let earliestNs = MonotonicClock.nowNs() + Self.leadNs + spec.wallNs(spec.warmUpNs)
        let startNs = spec.turns?.startNs(notBefore: earliestNs) ?? earliestNs
        start.open(startNs)
        return Window(startNs: startNs, endNs: startNs + spec.wallNs(spec.durationNs))
    }

    /// Returns once every writer has made its last commit.
    /// - Parameters:
    ///   - look: called every 10 ms.
    ///   - report: called twice a second with the commits made so far.
    func awaitEnd(look: (Int64) throws -> Void, report: (Int) -> Void) throws {
        var seen = -1
        var deadline = HangDeadline(timeoutNs: spec.hangTimeoutNs)
        var reportNs = MonotonicClock.nowNs()
        while end.arrivals < writers.count {
            let nowNs = MonotonicClock.nowNs()
            let commits = commitsSoFar
            if nowNs >= reportNs {
                report(commits)
                reportNs = nowNs + 500_000_000
            }
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

    /// Of the writers' threads, which are ready.
    var allocations: [ThreadAllocations?] { writers.map(\.allocations) }

    /// Of each writer, in the order it committed; after `awaitEnd`.
    var records: [RecordBuffer<CommitRecord>] { writers.map(\.recorder.records) }

    /// After `awaitEnd`.
    var spunNs: Int64 { writers.reduce(0) { $0 + $1.spunNs } }

    /// Lets the writers' threads end.
    func dismiss() {
        end.open(0)
        for thread in threads { thread.join() }
        threads = []
    }
}
