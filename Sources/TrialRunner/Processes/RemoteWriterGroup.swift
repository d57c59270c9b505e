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

final class RemoteWriterGroup: WritingSide {
    private static let lookEveryNs: Int64 = 10_000_000
    /// A process that starts, opens a store and makes a hundred thousand rows for itself.
    private static let startNs: Int64 = 60_000_000_000
    private static let leadNs: Int64 = 20_000_000

    private let setup: TrialSetup
    private let spec: TrialSpec
    private var helpers: [HelperProcess] = []
    private var window = Window(startNs: 0, endNs: 0)
    /// When something was done to the writing process, and when it was over.
    private var hitNs: Int64?
    private var releasedNs: Int64?
    private(set) var records: [RecordBuffer<CommitRecord>] = []

    let spunNs: Int64 = 0
    let allocations: [ThreadAllocations?] = []
    let refusals = 0

    init(_ setup: TrialSetup) { (self.setup, spec) = (setup, setup.spec) }

    deinit { dismiss() }

    private func path(_ writer: Int) -> String { "\(setup.directory)/tidegauge-writer-\(writer)" }

    /// A process that writes and is ready to.
    private func helper(_ writer: Int, dueTimesDone: Int) throws -> HelperProcess {
        let role = HelperOrder.Role.writer(index: writer, dueTimesDone: dueTimesDone, records: path(writer))
        let helper = try HelperProcess(HelperOrder(spec: spec, role: role, storeDirectory: setup.directory))
        helpers.append(helper)
        try helper.awaitReady(Self.startNs)
        return helper
    }

    /// What a writer has recorded until now.
    private func recorded(_ writer: Int) throws -> RecordBuffer<CommitRecord> {
        try RecordBuffer(file: path(writer), capacity: TrialSize.commitsPerWriter(spec), isNew: false)
    }

    func launch() throws -> Window {
        let writer = try helper(0, dueTimesDone: 0)
        let startNs = MonotonicClock.nowNs() + Self.leadNs + spec.warmUpNs
        window = Window(startNs: startNs, endNs: startNs + spec.durationNs)
        writer.tell("\(startNs)")
        records.append(try recorded(0))
        return window
    }

    var commitsSoFar: Int { records.reduce(0) { $0 + $1.publishedCount } }

    func awaitEnd(look: (Int64) throws -> Void) throws {
        var seen = -1
        let timeoutNs = spec.hangTimeoutNs + spec.fault.lengthNs + Self.startNs
        var deadline = HangDeadline(timeoutNs: timeoutNs, mostExtensions: 0)
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
            if commits != seen || nowNs < window.startNs {
                seen = commits
                deadline.restart()
            } else if deadline.hasPassed() {
                throw TrialFault.hang("no commit returned in the writing process for \(timeoutNs / 1_000_000) ms")
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
        records[0] = try recorded(0)
        let (done, lost) = (records[0].count, try unacknowledged())
        if let lost { records[0].append(lost) }
        let next = try helper(1, dueTimesDone: done + (lost == nil ? 0 : 1))
        next.tell("\(window.startNs)")
        records.append(try recorded(1))
    }

    /// The commit that the killed process was making, if it is in the store.
    private func unacknowledged() throws -> CommitRecord? {
        let committed = records[0].count
        var generator = ChangeGenerator(spec, dataset: setup.dataset, shared: setup.plan.shared, writer: 0)
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: generator.count)
        defer { changes.deallocate() }
        for _ in 0..<committed { generator.fill(changes) }
        let stamp = generator.nextStamp
        guard try setup.store.contents(of: Query()).contains(where: { $0.stamp == stamp }) else { return nil }
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
        records[records.count - 1] = try recorded(records.count - 1)
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
