// The writing side in separate processes, each started by the agent of a host. It also handles the faults of a
// writing process. A process may be stopped for a while. If one is killed, another continues where it was; its agent
// still has the records of its commits.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

final class RemoteWriterGroup: WritingSide {
    private static let lookEveryNs: Int64 = 10_000_000
    private static let pingEveryNs: Int64 = 100_000_000
    private static let leadNs: Int64 = 20_000_000

    private let setup: TrialSetup
    private let spec: TrialSpec
    private var stations: [HostStation] = []
    private var window = Window(startNs: 0, endNs: 0)
    /// Start and end of the fault of the writing process.
    private var hitNs: Int64?
    private var releasedNs: Int64?
    /// The last commit of a killed writer if it was made but not acknowledged.
    private var lost: CommitRecord?
    private var nextPingNs: Int64 = 0
    private(set) var records: [RecordBuffer<CommitRecord>] = []

    let spunNs: Int64 = 0
    let allocations: [ThreadAllocations?] = []
    let refusals = 0

    init(_ setup: TrialSetup) { (self.setup, spec) = (setup, setup.spec) }

    deinit { dismiss() }

    /// One if all writers take their due times from one schedule.
    private var writersPerHost: Int {
        spec.writersShareSchedule ? 1 : spec.writers.threads / (spec.writers.hosts ?? 1)
    }

    func launch() throws -> Window {
        stations = try setup.hosts.enumerated().map { place, host in
            let writing = spec.writers.hosts ?? 1
            let first = min(place, writing) * writersPerHost
            let own = first..<(place < writing ? first + writersPerHost : first)
            return HostStation(
                try HostLink(host), writers: spec.writersShareSchedule ? 0..<spec.writers.threads : own,
                observes: spec.observingHosts.contains(place), spec)
        }
        let sha = setup.hosts.allSatisfy(\.isHere) ? nil : try Fingerprint.sha256OfThisBinary()
        for station in stations { try station.greet(binarySHA: sha, setup) }
        for station in stations { try order(station, first: station.writers.lowerBound, dueTimesDone: 0) }
        for station in stations { _ = try station.link.expect(.ready, withinNs: HostLink.readyNs) }
        for station in stations { try station.learnClock() }
        // The start message must arrive before the first commit is due.
        let wayNs = stations.map(\.widthNs).max() ?? 0
        let startNs = MonotonicClock.nowNs() + Self.leadNs + 4 * wayNs + spec.warmUpNs
        window = Window(startNs: startNs, endNs: startNs + spec.durationNs)
        for station in stations { try start(station) }
        return window
    }

    private func order(_ station: HostStation, first: Int, dueTimesDone: Int) throws {
        let count = spec.writersShareSchedule ? 1 : station.writers.count
        let role = HostOrder.Role.writers(first: first, count: count, dueTimesDone: dueTimesDone)
        // A remote login may have another working directory.
        let directory = URL(fileURLWithPath: setup.directory).path
        var order = HostOrder(spec: spec, role: role, storeDirectory: directory)
        let reachable = setup.store as? any ReachableStore
        (order.storeAddress, order.storeSecret) = (reachable?.address, reachable?.secret)
        order.observes = station.observes
        station.link.send(try HostFrame(.order, order))
    }

    private func start(_ station: HostStation) throws {
        let (link, clock) = (station.link, station.link.clock)
        link.send(HostFrame(.start, integers: [clock.remote(window.startNs)]))
        switch spec.fault.injection {
        case .writerKilled(let atNs) where hitNs == nil:
            link.send(try HostFrame(.fault, HostFault(kind: .kill, atNs: clock.remote(window.startNs + atNs))))
        case .writerStopped(let atNs, let lengthNs):
            let stop = HostFault(kind: .stop, atNs: clock.remote(window.startNs + atNs), lengthNs: lengthNs)
            link.send(try HostFrame(.fault, stop))
        case .none, .writerKilled, .stall, .slowdown, .loss, .reorder, .observerKilled, .diskFull, .slowFsync,
            .clockStep, .serverRestarted, .connectionCut, .observerStopped, .largeTransaction:
            break
        }
    }

    var commitsSoFar: Int { stations.reduce(0) { $0 + $1.commits } }

    func awaitEnd(look: (Int64) throws -> Void) throws {
        do {
            try awaitReports(look)
            // Measures the clocks again, so that the clock offsets are known on both sides of the window.
            for station in stations where !station.link.clock.isSame {
                try losing(station) { try station.learnClock() }
            }
        } catch let fault as TrialFault {
            guard spec.writers.hosts != nil, stations.contains(where: { $0.loss != nil }) else { throw fault }
            let sinceNs = MonotonicClock.nowNs() - window.startNs
            salvage()
            let records = stations.flatMap { $0.localRecords() }
            throw HostLoss(fault, sinceNs: sinceNs, window, stations.map { $0.account(window) }, records)
        }
        var all = stations.flatMap { $0.localRecords() }
        if let lost { all[0].append(lost) }
        records = try all.map { commits in
            let buffer = try RecordBuffer<CommitRecord>(capacity: commits.count)
            for record in commits { buffer.append(record) }
            return buffer
        }
    }

    /// Whether its writers have finished, according to its messages.
    private func isThrough(_ station: HostStation) -> Bool {
        station.report != nil || station.observes && station.hasLoaded
    }

    /// Lets observers on hosts wait for the commits of all hosts, and collects their records.
    func settle(_ history: History, _ plan: QueryAssignment, tokens: [Int64: Int64]?) throws -> [Echo] {
        let stations = stations.filter(\.observes)
        guard !stations.isEmpty else { return [] }
        let goal = try HostFrame(.settle, Echo.goal(history, tokens))
        for station in stations { station.link.send(goal) }
        // A host sends everything once its observers have covered the goal, or no callback has come for `hang_timeout`.
        // If one takes longer than this from when its turn comes, the trial fails.
        let mostNs = 2 * spec.hangTimeoutNs + HostLink.readyNs
        for station in stations {
            let deadlineNs = MonotonicClock.nowNs() + mostNs
            while station.report == nil {
                guard let frame = try station.link.next(untilNs: deadlineNs) else {
                    throw station.link.fault("it has not sent its observations for \(mostNs / 1_000_000) ms")
                }
                _ = try station.take(frame)
            }
        }
        return try stations.map { try Echo($0, window, plan) }
    }

    private func awaitReports(_ look: (Int64) throws -> Void) throws {
        var seen = -1
        let timeoutNs = spec.hangTimeoutNs + spec.fault.lengthNs + HostLink.readyNs
        var deadline = HangDeadline(timeoutNs: timeoutNs, mostExtensions: 0)
        while let waiting = stations.firstIndex(where: { !isThrough($0) }) {
            let nowNs = MonotonicClock.nowNs()
            try look(nowNs)
            let pinged = pingNext(nowNs) ?? waiting
            for (place, station) in stations.enumerated() where !isThrough(station) {
                try losing(station) {
                    try hear(station, untilNs: place == pinged ? nowNs + Self.lookEveryNs : nowNs)
                    try station.checkSilence(mostNs: spec.hangTimeoutNs + HostFrame.silenceMarginNs)
                }
            }
            if commitsSoFar != seen || nowNs < window.startNs {
                seen = commitsSoFar
                deadline.restart()
            } else if deadline.hasPassed() {
                throw TrialFault.hang("no commit returned in the writing process for \(timeoutNs / 1_000_000) ms")
            }
        }
    }

    /// Records in the station a `TrialFault` that `body` throws, and rethrows it.
    private func losing(_ station: HostStation, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let fault as TrialFault {
            station.lose(fault)
            throw fault
        }
    }

    /// Pings the hosts in turn, often enough to bound the effect of the clocks' drift, and to show that the trial runs.
    /// - Returns: index of the host whose answer to wait for; nil if none was pinged.
    private func pingNext(_ nowNs: Int64) -> Int? {
        guard nowNs >= nextPingNs else { return nil }
        nextPingNs = nowNs + Self.pingEveryNs / Int64(stations.count)
        let open = stations.indices.filter { !isThrough(stations[$0]) }
        guard let next = open.min(by: { stations[$0].link.pingedNs < stations[$1].link.pingedNs }) else { return nil }
        stations[next].link.ping()
        return next
    }

    private func hear(_ station: HostStation, untilNs: Int64) throws {
        while !isThrough(station), let frame = try station.link.next(untilNs: untilNs) {
            if frame.kind == .records, MonotonicClock.nowNs() < window.endNs - station.widthNs {
                throw TrialFault.harness(
                    "'\(station.link.host.name)' has sent its records within the measured window, which is measured with them"
                )
            }
            if let report = try station.take(frame) { try hit(report, station) }
        }
    }

    /// Handles a fault that has happened to the writing process.
    private func hit(_ report: HostFaultReport, _ station: HostStation) throws {
        (hitNs, releasedNs) = (report.hitNs, report.releasedNs)
        switch report.kind {
        case .stop: break
        case .kill:
            lost = try WriterDeath(setup, window, report).unacknowledged()
            try order(station, first: 1, dueTimesDone: report.committed + (lost == nil ? 0 : 1))
            _ = try station.link.expect(.ready, withinNs: HostLink.readyNs)
            try start(station)
        }
    }

    /// Stops the remaining hosts and collects their records. They have as long as a host may be silent.
    private func salvage() {
        let deadlineNs = MonotonicClock.nowNs() + spec.hangTimeoutNs + HostFrame.silenceMarginNs
        let there = stations.filter { !$0.isGone && $0.report == nil }
        for station in there { station.link.send(HostFrame(kind: .stop)) }
        for station in there {
            do {
                while station.report == nil, let frame = try station.link.next(untilNs: deadlineNs) {
                    _ = try station.take(frame)
                }
                if station.report == nil { throw station.link.fault("it did not stop on request") }
            } catch {
                station.lose(TrialFault(error))
            }
        }
    }

    var recoveryNs: Int64? {
        guard let hitNs else { return nil }
        let sinceNs = releasedNs ?? hitNs
        // The successor's first commit, if there is a successor.
        return records.last?.first { $0.committedNs > sinceNs }.map { $0.committedNs - sinceNs }
    }

    /// Adds the CPU time, the figures of each host and the recovery time, and ends the agents.
    func end(into findings: inout Findings) {
        for case let report? in stations.map(\.report) { findings.cpu.add(report.cpu) }
        if spec.writers.hosts != nil { findings.hosts = stations.map { $0.account(window) } }
        dismiss()
        findings.recoveryNs = recoveryNs
    }

    func dismiss() {
        for station in stations { station.link.end() }
        stations = []
    }
}
