// The writing side in processes of its own, each started by the agent of a host, and what is done to one: it may be stopped for a
// while, or killed, and another one takes over where it was. What it had been told is committed its agent still knows.
import Foundation
import Measure
import Scenario
import StoreDriver
import Trials

final class RemoteWriterGroup: WritingSide {
    private static let lookEveryNs: Int64 = 10_000_000
    private static let leadNs: Int64 = 20_000_000

    /// A host, and what is known of it by now.
    private struct Station {
        let link: HostLink
        /// Commits that have returned, as it says now and then.
        var commits = 0
        var report: HostReport?
    }

    private let setup: TrialSetup
    private let spec: TrialSpec
    private var stations: [Station] = []
    private var window = Window(startNs: 0, endNs: 0)
    /// When something was done to the writing process, and when it was over.
    private var hitNs: Int64?
    private var releasedNs: Int64?
    /// The last commit of a writer that was killed, which it has told nobody of.
    private var lost: CommitRecord?
    /// Of each writer, as they come.
    private var taken: [[CommitRecord]]
    private(set) var records: [RecordBuffer<CommitRecord>] = []

    let spunNs: Int64 = 0
    let allocations: [ThreadAllocations?] = []
    let refusals = 0

    init(_ setup: TrialSetup) {
        (self.setup, spec) = (setup, setup.spec)
        taken = Array(repeating: [], count: spec.writers.threads)
    }

    deinit { dismiss() }

    func launch() throws -> Window {
        stations = [Station(link: try HostLink(.here))]
        for station in stations { _ = try station.link.awaitHello(binarySHA: nil) }
        for station in stations { try order(station.link, first: 0, dueTimesDone: 0) }
        for station in stations { _ = try station.link.expect(.ready, withinNs: HostLink.readyNs) }
        let startNs = MonotonicClock.nowNs() + Self.leadNs + spec.warmUpNs
        window = Window(startNs: startNs, endNs: startNs + spec.durationNs)
        for station in stations { try start(station.link) }
        return window
    }

    private func order(_ link: HostLink, first: Int, dueTimesDone: Int) throws {
        let role = HostOrder.Role.writers(first: first, count: 1, dueTimesDone: dueTimesDone)
        link.send(try HostFrame(.order, HostOrder(spec: spec, role: role, storeDirectory: setup.directory)))
    }

    private func start(_ link: HostLink) throws {
        link.send(HostFrame(.start, integers: [window.startNs]))
        switch spec.fault.injection {
        case .writerKilled(let atNs) where hitNs == nil:
            link.send(try HostFrame(.fault, HostFault(kind: .kill, atNs: window.startNs + atNs)))
        case .writerStopped(let atNs, let lengthNs):
            let stop = HostFault(kind: .stop, atNs: window.startNs + atNs, lengthNs: lengthNs)
            link.send(try HostFrame(.fault, stop))
        case .none, .writerKilled, .stall, .slowdown, .loss, .reorder, .observerKilled, .diskFull, .slowFsync,
            .clockStep:
            break
        }
    }

    var commitsSoFar: Int { stations.reduce(0) { $0 + $1.commits } }

    func awaitEnd(look: (Int64) throws -> Void) throws {
        var seen = -1
        let timeoutNs = spec.hangTimeoutNs + spec.fault.lengthNs + HostLink.readyNs
        var deadline = HangDeadline(timeoutNs: timeoutNs, mostExtensions: 0)
        while let waiting = stations.firstIndex(where: { $0.report == nil }) {
            let nowNs = MonotonicClock.nowNs()
            try look(nowNs)
            for place in stations.indices {
                let untilNs = place == waiting ? nowNs + Self.lookEveryNs : nowNs
                while stations[place].report == nil, let frame = try stations[place].link.next(untilNs: untilNs) {
                    try take(frame, place)
                }
            }
            if commitsSoFar != seen || nowNs < window.startNs {
                seen = commitsSoFar
                deadline.restart()
            } else if deadline.hasPassed() {
                throw TrialFault.hang("no commit returned in the writing process for \(timeoutNs / 1_000_000) ms")
            }
        }
        if let lost { taken[0].append(lost) }
        records = try taken.map { commits in
            let buffer = try RecordBuffer<CommitRecord>(capacity: commits.count)
            for record in commits { buffer.append(record) }
            return buffer
        }
    }

    private func take(_ frame: HostFrame, _ place: Int) throws {
        let link = stations[place].link
        switch frame.kind {
        case .progress: stations[place].commits = Int(try link.integers(frame, 1)[0])
        case .fault: try hit(try link.decoded(frame, HostFaultReport.self), link)
        case .records:
            if MonotonicClock.nowNs() < window.endNs {
                throw TrialFault.harness(
                    "'\(link.host.name)' has sent its records within the measured window, which is measured with them")
            }
            let part = try link.reading(frame) { try HostRecords($0) }
            guard taken.indices.contains(part.writer) else {
                throw link.fault("it sent records of writer \(part.writer), and there are \(taken.count)")
            }
            taken[part.writer] += part.records
        case .done:
            let report = try link.decoded(frame, HostReport.self)
            if let failure = report.failure { throw failure.fault }
            stations[place].report = report
            stations[place].commits = max(stations[place].commits, taken.reduce(0) { $0 + $1.count })
        case .hello, .ping, .pong, .order, .ready, .start, .stop:
            throw link.fault("it said '\(frame.kind)' in the middle of the load")
        }
    }

    /// Something has been done to the writing process.
    private func hit(_ report: HostFaultReport, _ link: HostLink) throws {
        (hitNs, releasedNs) = (report.hitNs, report.releasedNs)
        switch report.kind {
        case .stop: break
        case .kill:
            let death = WriterDeath(setup, window, report)
            lost = try death.unacknowledged()
            try order(link, first: 1, dueTimesDone: report.committed + (lost == nil ? 0 : 1))
            _ = try link.expect(.ready, withinNs: HostLink.readyNs)
            try start(link)
        }
    }

    var recoveryNs: Int64? {
        guard let hitNs else { return nil }
        let sinceNs = releasedNs ?? hitNs
        // Of the successor, where there is one.
        return records.last?.first { $0.committedNs > sinceNs }.map { $0.committedNs - sinceNs }
    }

    /// What the writing processes have used belongs to the commits.
    func end(into findings: inout Findings) {
        for case let report? in stations.map(\.report) { findings.cpu.add(report.cpu) }
        dismiss()
        findings.recoveryNs = recoveryNs
    }

    func dismiss() {
        for station in stations { station.link.end() }
        stations = []
    }
}
