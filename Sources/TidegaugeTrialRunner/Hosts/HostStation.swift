// A host that writes or observes, and what is known of it by now: how far it is, what it has sent, how its clock stands. The conducting thread.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

final class HostStation {
    let link: HostLink
    /// By number, over all hosts; none where it only observes.
    let writers: Range<Int>
    let observes: Bool
    /// Commits that have returned, as it says now and then.
    private(set) var commits = 0
    private(set) var report: HostReport?
    /// Why it is not waited for any more.
    private(set) var loss: String?
    /// Its agent, that is: it says nothing any more.
    private(set) var isGone = false
    /// Of each writer, on the host's clock.
    private(set) var shownRecords: [[CommitRecord]]
    /// The widest that one of its moments has been.
    private var halfWidthNs: Int64 = 0

    /// Its writers are through; what it has observed is still to come.
    private(set) var hasLoaded = false
    private var observed: [UInt8] = []
    private(set) var observations: [HostObservation] = []

    /// Most commits of one of its writers.
    private let mostCommits: Int
    let most: HostObservation.Most

    private static let firstExchanges = 32
    /// Of what its observers have recorded and not sent to the end: as much as one of them may record.
    private static let mostObservedBytes = 1 << 30
    private static let pingsNs: Int64 = 4_000_000_000

    init(_ link: HostLink, writers: Range<Int>, observes: Bool = false, _ spec: TrialSpec) {
        (self.link, self.writers, self.observes) = (link, writers, observes)
        mostCommits = TrialSize.commitsPerWriter(spec)
        most = HostObservation.Most(spec)
        shownRecords = Array(repeating: [], count: writers.count)
    }

    /// Its first word, and whether it can open the store.
    /// - Parameter binarySHA: of this process's file.
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

    /// It is not waited for any more: its agent is gone, or what the agent has started has failed.
    func lose(_ fault: TrialFault) {
        loss = loss ?? fault.description
        if case .host = fault { isGone = true }
    }

    /// Where the clock is this process's own, a few to see that it is.
    func learnClock() throws {
        try link.learnClock(exchanges: link.clock.isSame ? 3 : Self.firstExchanges, withinNs: Self.pingsNs)
        if !link.clock.isSame, link.clock.exchanges < Self.firstExchanges {
            try link.learnClock(exchanges: Self.firstExchanges, withinNs: Self.pingsNs)
        }
    }

    /// How far apart the bounds of its clock are now.
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

    /// - Returns: what has been done to its process, on this clock.
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
            throw link.fault("it said '\(frame.kind)' in the middle of the load")
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
            throw link.fault("it sent what more observers recorded than it has, which are \(observations.count)")
        }
        let whole = HostFrame(kind: .observed, payload: observed)
        observations.append(try link.decoded(whole, HostObservation.self))
        observed = []
    }

    /// What it may tell now.
    var numbers: HostNumbers {
        HostNumbers(nowNs: link.clock.remote(MonotonicClock.nowNs()), mostCommits: mostCommits)
    }

    /// Of each writer, on this process's clock.
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

    /// What an observer was told, on this process's clock.
    func local(_ callbacks: [CallbackRecord]) -> [CallbackRecord] {
        callbacks.map { callback in
            var callback = callback
            callback.enterNs = local(callback.enterNs)
            // 0: it has not ended.
            if callback.exitNs > 0 { callback.exitNs = local(callback.exitNs) }
            return callback
        }
    }

    /// A moment there on this process's clock, whose doubt is part of the account from here on.
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
