// The writing side in a process of its own, and what is done to that process: it may be stopped for a while, or killed, and
// another one takes over where it was. What it had been told is committed stands in a file that outlives it.
//
// Killed in the middle of a commit, it leaves one whose fate nobody knows: it was not acknowledged, and may be there all the
// same. The stamp of its rows says which, and the version that nobody else has is its version.
import Foundation
import Measure
import Scenario
import StoreDriver
import Trials

/// One writer, then perhaps its successor. The conducting thread.
final class RemoteWork: WritingSide {
    private static let lookEveryNs: Int64 = 10_000_000
    /// A process that starts, opens a store and makes a hundred thousand rows for itself.
    private static let startNs: Int64 = 60_000_000_000
    private static let leadNs: Int64 = 20_000_000

    private let spec: TrialSpec
    private let dataset: Dataset
    private let plan: QueryAssignment
    private let store: any DrivenStore
    private let directory: String
    private var helpers: [HelperProcess] = []
    private var window = Window(startNs: 0, endNs: 0)
    /// When something was done to the writing process, and when it was over.
    private var hitNs: Int64?
    private var releasedNs: Int64?
    private(set) var records: [RecordBuffer<CommitRecord>] = []

    var spunNs: Int64 { 0 }
    var allocations: [ThreadAllocations?] { [] }
    var refusals: Int { 0 }

    init(_ spec: TrialSpec, _ dataset: Dataset, _ plan: QueryAssignment, _ store: any DrivenStore, directory: String) {
        (self.spec, self.dataset, self.plan) = (spec, dataset, plan)
        (self.store, self.directory) = (store, directory)
    }

    deinit { dismiss() }

    private func path(_ writer: Int) -> String { "\(directory)/tidegauge-writer-\(writer)" }

    private func helper(_ writer: Int, dueTimesDone: Int) throws -> HelperProcess {
        let helper = try HelperProcess(
            HelperOrder(
                spec: spec, role: .writer(index: writer, dueTimesDone: dueTimesDone, records: path(writer)),
                storeDirectory: directory))
        helpers.append(helper)
        return helper
    }

    private func open(_ writer: Int) throws {
        records.append(try RecordBuffer(file: path(writer), capacity: TrialSize.commitsPerWriter(spec), isNew: false))
    }

    func launch() throws -> Window {
        let writer = try helper(0, dueTimesDone: 0)
        try writer.awaitReady(Self.startNs)
        let startNs = MonotonicClock.nowNs() + Self.leadNs + spec.warmUpNs
        window = Window(startNs: startNs, endNs: startNs + spec.durationNs)
        writer.tell("\(startNs)")
        try open(0)
        return window
    }

    var commitsSoFar: Int { records.reduce(0) { $0 + $1.publishedCount } }

    func awaitEnd(look: (Int64) throws -> Void, report: (Int) -> Void) throws {
        var seen = -1
        var progressNs = MonotonicClock.nowNs()
        var reportNs = progressNs
        let patienceNs = spec.hangTimeoutNs + spec.fault.lengthNs + Self.startNs
        while true {
            let nowNs = MonotonicClock.nowNs()
            try hit(nowNs)
            if let line = helpers[helpers.count - 1].line(untilNs: nowNs + Self.lookEveryNs) {
                guard line.hasPrefix("done") else { continue }
                let fault = line.dropFirst("done ".count)
                if !fault.isEmpty { throw TrialFault.store(String(fault)) }
                return try finish()
            }
            try look(nowNs)
            let commits = commitsSoFar
            if nowNs >= reportNs {
                report(commits)
                reportNs = nowNs + 500_000_000
            }
            if commits != seen || nowNs < window.startNs {
                seen = commits
                progressNs = nowNs
            } else if nowNs - progressNs > patienceNs {
                throw TrialFault.hang("no commit returned in the writing process for \(patienceNs / 1_000_000) ms")
            }
        }
    }

    /// Does to the writing process what the trial says, when it is time.
    private func hit(_ nowNs: Int64) throws {
        switch spec.fault.injection {
        case .writerKilled(let atNs):
            guard hitNs == nil, nowNs >= window.startNs + atNs else { return }
            hitNs = MonotonicClock.nowNs()
            helpers[0].end()
            try replace()
        case .writerStopped(let atNs, let lengthNs):
            if let hitNs {
                guard releasedNs == nil, nowNs >= hitNs + lengthNs else { return }
                releasedNs = MonotonicClock.nowNs()
                helpers[0].signal(SIGCONT)
            } else if nowNs >= window.startNs + atNs {
                hitNs = MonotonicClock.nowNs()
                helpers[0].signal(SIGSTOP)
            }
        case .none, .stall, .slowdown, .loss, .reorder, .observerKilled, .diskFull, .slowFsync, .clockStep: return
        }
    }

    /// Starts the successor of a writer that is gone.
    private func replace() throws {
        try reread(0)
        let (done, lost) = (records[0].count, try unacknowledged())
        if let lost { records[0].append(lost) }
        let next = try helper(1, dueTimesDone: done + (lost == nil ? 0 : 1))
        try next.awaitReady(Self.startNs)
        next.tell("\(window.startNs)")
        try open(1)
    }

    private func reread(_ writer: Int) throws {
        records[writer] = try RecordBuffer(file: path(writer), capacity: TrialSize.commitsPerWriter(spec), isNew: false)
    }

    /// The commit that the killed process was making, if it is in the store.
    private func unacknowledged() throws -> CommitRecord? {
        let committed = records[0].count
        var generator = ChangeGenerator(spec, dataset: dataset, shared: plan.shared, writer: 0)
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: generator.count)
        defer { changes.deallocate() }
        for _ in 0..<committed { generator.fill(changes) }
        let stamp = generator.nextStamp
        guard try store.contents(of: Query()).contains(where: { $0.stamp == stamp }) else { return nil }
        var schedule = ArrivalSchedule(spec, writer: 0, isShared: true)
        var dueNs: Int64 = 0
        for _ in 0...committed { dueNs = schedule.next() ?? dueNs }
        dueNs += window.startNs
        // No process but the killed one has written since its last commit.
        let version = (records[0].last?.version ?? 0) + 1
        let nowNs = hitNs ?? MonotonicClock.nowNs()
        return CommitRecord(
            dueNs: dueNs, beginNs: max(dueNs, records[0].last?.committedNs ?? 0), lockedNs: nowNs, committedNs: nowNs,
            version: version)
    }

    private func finish() throws {
        for helper in helpers { helper.awaitEnd() }
        helpers = []
        // The last one has gone on writing since it was opened here.
        try reread(records.count - 1)
        while records.count < spec.writers.threads {
            records.append(try RecordBuffer(file: path(records.count), capacity: 1, isNew: true))
        }
    }

    var recoveryNs: Int64? {
        guard let hitNs else { return nil }
        let sinceNs = releasedNs ?? hitNs
        // Of the successor, where there is one.
        return records.last?.first { $0.committedNs > sinceNs }.map { $0.committedNs - sinceNs }
    }

    func dismiss() {
        for helper in helpers { helper.end() }
        helpers = []
    }
}
