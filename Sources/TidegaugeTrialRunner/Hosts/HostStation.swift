// A host that writes or observes, and its state: progress, messages, clock. Used by the conducting thread.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

final class HostStation {
    let link: HostLink
    /// Numbers of its writers over all hosts; empty if it only observes.
    let writers: Range<Int>
    let observes: Bool
    /// Number of returned commits in the host's last progress message, or of its records after its report.
    private(set) var commits = 0
    private(set) var report: HostReport?
    /// The reason why the trial no longer waits for it.
    private(set) var loss: String?
    /// Whether its agent counts as lost: it has ended, is silent, or has sent an invalid message.
    private(set) var isGone = false
    /// Commit records of each writer, on the host's clock.
    private(set) var shownRecords: [[CommitRecord]]
    /// The largest uncertainty (±) of a converted time so far.
    private var halfWidthNs: Int64 = 0

    /// Whether its writers have finished; its observations are still to come.
    private(set) var hasLoaded = false
    private var observed: [UInt8] = []
    private(set) var observations: [HostObservation] = []

    /// Maximum number of commits per writer.
    private let mostCommits: Int
    let most: HostObservation.Most

    private static let firstExchanges = 32
    /// Maximum bytes of one incomplete observation.
    private static let mostObservedBytes = 1 << 30
    private static let pingsNs: Int64 = 4_000_000_000

    init(_ link: HostLink, writers: Range<Int>, observes: Bool = false, _ spec: TrialSpec) {
        (self.link, self.writers, self.observes) = (link, writers, observes)
        mostCommits = TrialSize.commitsPerWriter(spec)
        most = HostObservation.Most(spec)
        shownRecords = Array(repeating: [], count: writers.count)
    }

    /// Waits for the host's first message and checks that the host can open the store.
    /// - Parameter binarySHA: SHA-256 of this process's file.
    func greet(binarySHA: String?, _ setup: TrialSetup) throws {
        let hello = try link.awaitHello(binarySHA: link.host.isHere ? nil : binarySHA)
        if let reachable = setup.store as? any ReachableStore {
            if let obstacle = reachable.obstacle(from: hello.place) { throw link.fault(obstacle) }
        } else if hello.place == .otherMachine {
            throw link.fault(
                "it is another machine, and the store of '\(setup.spec.driver)' is a file of this one: choose a driver whose "
                    + "store is a server (tidegauge list drivers)")
        }
    }

    /// Records why the trial no longer waits for the host: its agent is lost, or the agent's process has failed.
    func lose(_ fault: TrialFault) {
        loss = loss ?? fault.description
        if case .host = fault { isGone = true }
    }

    /// Exchanges pings; only three if both processes report the same clock and no ping contradicts that.
    func learnClock() throws {
        try link.learnClock(exchanges: link.clock.isSame ? 3 : Self.firstExchanges, withinNs: Self.pingsNs)
        if !link.clock.isSame, link.clock.exchanges < Self.firstExchanges {
            try link.learnClock(exchanges: Self.firstExchanges, withinNs: Self.pingsNs)
        }
    }

    /// Current width in ns of the bounds of the host's clock.
    var widthNs: Int64 {
        link.clock.bounds(atNs: MonotonicClock.nowNs()).map { $0.upperBound - $0.lowerBound } ?? 0
    }

    func checkSilence(mostNs: Int64) throws {
        if MonotonicClock.nowNs() - link.heardNs > mostNs {
            throw link.fault(
                "it has said nothing for \(mostNs / 1_000_000) ms: the host or the way there is gone (a longer 'hang_timeout' waits "
                    + "longer)")
        }
    }

    /// - Returns: a fault that has happened to its process, with times on this clock.
    func take(_ frame: HostFrame) throws -> HostFaultReport? {
        switch frame.kind {
        case .progress:
            let told = try link.integers(frame, 1)[0]
            try link.reading { try HostNumber.check("a number of commits", told, in: 0...1 << 40) }
            commits = Int(told)
        case .fault:
            var done = try link.decoded(frame, HostFaultReport.self)
            try link.reading { try numbers.check(done) }
            done.hitNs = link.clock.local(done.hitNs).ns
            done.releasedNs = done.releasedNs.map { link.clock.local($0).ns }
            done.lastCommittedNs = done.lastCommittedNs.map { link.clock.local($0).ns }
            return done
        case .records:
            let part = try link.reading(frame) { try HostRecords($0) }
            guard writers.contains(part.writer) else {
                throw link.fault("it sent records of writer \(part.writer), and its own are \(writers)")
            }
            let place = part.writer - writers.lowerBound
            try link.reading { try numbers.check(part.records, behind: shownRecords[place].count) }
            shownRecords[place] += part.records
        case .loaded: hasLoaded = true
        case .observed: try takeObserved(frame)
        case .done:
            let report = try link.decoded(frame, HostReport.self)
            if let failure = report.failure { throw failure.fault(on: link.host) }
            try link.reading { try numbers.check(report) }
            self.report = report
            commits = shownRecords.reduce(0) { $0 + $1.count }
        case .hello, .ping, .pong, .order, .ready, .start, .stop, .settle:
            throw link.fault("it sent '\(frame.kind)' during the load")
        }
        return nil
    }

    private func takeObserved(_ frame: HostFrame) throws {
        observed += frame.payload.dropFirst()
        try link.reading {
            try HostNumber.check("a number of bytes", observed.count, in: 0...Self.mostObservedBytes)
        }
        guard frame.payload.first == 1 else { return }
        guard observations.count < (observes ? most.observers : 0) else {
            throw link.fault("it sent records of more observers than its \(observations.count)")
        }
        let whole = HostFrame(kind: .observed, payload: observed)
        observations.append(try link.decoded(whole, HostObservation.self))
        observed = []
    }

    /// Limits of the numbers that it may send now.
    var numbers: HostNumbers {
        HostNumbers(nowNs: link.clock.remote(MonotonicClock.nowNs()), mostCommits: mostCommits)
    }

    /// Returns the commit records of each writer on this process's clock.
    func localRecords() -> [[CommitRecord]] {
        if link.clock.isSame { return shownRecords }
        return shownRecords.map { records in
            records.map { record in
                var record = record
                for time in CommitRecord.times { record[keyPath: time] = local(record[keyPath: time]) }
                return record
            }
        }
    }

    /// Returns callbacks with their times on this process's clock.
    func local(_ callbacks: [CallbackRecord]) -> [CallbackRecord] {
        callbacks.map { callback in
            var callback = callback
            callback.enterNs = local(callback.enterNs)
            // 0 means that the callback has not ended.
            if callback.exitNs > 0 { callback.exitNs = local(callback.exitNs) }
            return callback
        }
    }

    /// Converts a time of the host to this process's clock. Its uncertainty counts in the account from then on.
    func local(_ ns: Int64) -> Int64 {
        let (ns, halfWidthNs) = link.clock.local(ns)
        self.halfWidthNs = max(self.halfWidthNs, halfWidthNs)
        return ns
    }

    func account(_ window: Window) -> HostAccount {
        let clock = HostAccount.Clock(
            isSame: link.clock.isSame, exchanges: link.clock.exchanges,
            aheadNs: link.clock.bounds(atNs: window.startNs) ?? Int64.min...Int64.max, halfWidthNs: halfWidthNs)
        return HostAccount(
            name: link.host.name, loss: loss, commits: commits, clock: clock, cpu: report?.cpu, noise: report?.noise,
            environment: report?.environment)
    }
}
