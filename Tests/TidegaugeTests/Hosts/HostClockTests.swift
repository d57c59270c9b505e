// Tests of hosts' clocks. Agents in time namespaces have a known offset, with which the estimates are compared.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeMeasure
import TidegaugeSpec

@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite(.serialized, .onThreads) struct HostClockTests {
    private static let aheadSeconds: Int64 = 1_000

    /// Path of the program with an agent, beside the test bundle.
    static let fixture: String? = {
        let places =
            Bundle.allBundles.map(\.bundleURL).map { $0.deletingLastPathComponent() }
            + [Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
        return places.map { $0.appendingPathComponent("tidegauge-fixture").path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// Words that start a program in a time namespace, or nil if this user cannot make one.
    static let shifted: [String]? = {
        let words = [
            "unshare", "--user", "--map-root-user", "-T", "--monotonic", "\(aheadSeconds)", "--fork", "--kill-child",
        ]
        guard let program = Subprocess.find(words[0]) else { return nil }
        let ran = try? Subprocess.run(program, Array(words.dropFirst()) + ["true"])
        return ran?.isSuccess == true ? words : nil
    }()

    /// Number of rounds (`TIDEGAUGE_CLOCK_ROUNDS`, default 3).
    private static let rounds = ProcessInfo.processInfo.environment["TIDEGAUGE_CLOCK_ROUNDS"].flatMap { Int($0) } ?? 3

    private func spec() -> TrialSpec {
        var spec = TrialSpec.tiny(driver: "noop")
        (spec.writers.threads, spec.writers.hosts) = (1, 1)
        (spec.writers.rateHz, spec.writers.arrivals) = (1_000, .uniform)
        (spec.warmUpNs, spec.durationNs) = (0, 200_000_000)
        return spec
    }

    /// Lets a host write, and compares each recorded time with the known clock.
    /// - Parameter own: returns this process's clock when the host's clock shows `ns`.
    private func check(_ host: HostEntry, own: (Int64) -> Int64, widestNs: Int64, _ comment: Comment) throws {
        let spec = spec()
        let station = HostStation(try HostLink(host), writers: 0..<1, .tiny())
        defer { station.link.end() }
        let hello = try station.link.awaitHello(binarySHA: nil, withinNs: Self.helloNs)
        #expect(hello.clock != .current() && !station.link.clock.isSame, comment)
        let role = HostOrder.Role.writers(first: 0, count: 1, dueTimesDone: 0)
        station.link.send(try HostFrame(.order, HostOrder(spec: spec, role: role, storeDirectory: "/")))
        _ = try station.link.expect(.ready, withinNs: HostLink.readyNs)
        try station.learnClock()
        let startNs = MonotonicClock.nowNs() + 50_000_000
        let window = Window(startNs: startNs, endNs: startNs + spec.durationNs)
        station.link.send(HostFrame(.start, integers: [station.link.clock.remote(startNs)]))
        while station.report == nil {
            station.link.ping()
            let untilNs = MonotonicClock.nowNs() + 20_000_000
            while station.report == nil, let frame = try station.link.next(untilNs: untilNs) {
                _ = try station.take(frame)
            }
        }
        try station.learnClock()
        let records = station.localRecords()[0]
        let account = station.account(window).clock
        #expect(records.count == 200 && account.exchanges > 60, comment)
        #expect(account.halfWidthNs > 0 && account.halfWidthNs <= widestNs, "\(comment): \(account)")
        // The true offset of the host's clock at a time of this clock.
        let trueNs = inverse(own, startNs) - startNs
        #expect((account.aheadAtLeastNs...account.aheadAtMostNs).contains(trueNs), "\(comment): \(trueNs), \(account)")
        for (record, shown) in zip(records, station.shownRecords[0]) {
            for time in CommitRecord.times {
                let errorNs = record[keyPath: time] - own(shown[keyPath: time])
                // Reading back a faster clock may lose a nanosecond.
                #expect(abs(errorNs) <= account.halfWidthNs + 1, "\(comment): \(errorNs), \(account)")
            }
        }
    }

    /// Returns what the other clock shows at `ns` of this one, by bisection.
    private func inverse(_ own: (Int64) -> Int64, _ ns: Int64) -> Int64 {
        var (low, high) = (ns - 10_000_000_000_000, ns + 10_000_000_000_000)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if own(middle) <= ns { low = middle } else { high = middle }
        }
        return low
    }

    /// Ten minutes, because an agent may take long to start on a busy machine.
    private static let helloNs: Int64 = 600_000_000_000
    private static let ahead = aheadSeconds * 1_000_000_000

    @Test(.enabled(if: shifted != nil, "no time namespaces here for this user"), arguments: 0..<rounds)
    func theTrueDifferenceIsWithinTheBounds(_ round: Int) throws {
        let words = try #require(Self.shifted)
        let fixture = try #require(Self.fixture)
        let near = HostEntry(name: "near", run: words, binary: fixture)
        // A busy machine may add to a ping.
        try check(near, own: { $0 - Self.ahead }, widestNs: 50_000_000, "round \(round), near")
        let far = HostEntry(
            name: "far", run: [fixture, "relay", "--there-ms", "0", "--back-ms", "5", "--", "/usr/bin/env"] + words,
            binary: fixture)
        try check(far, own: { $0 - Self.ahead }, widestNs: 60_000_000, "round \(round), far")
    }

    @Test(.enabled(if: shifted != nil, "no time namespaces here for this user"), arguments: 0..<rounds)
    func aClockThatDriftsIsWithinTheBounds(_ round: Int) throws {
        let words = try #require(Self.shifted)
        let fixture = try #require(Self.fixture)
        let drifting = HostEntry(
            name: "drifting", run: words + ["/bin/sh", "-c", "shift; exec \"$0\" drifting-agent \"$@\""],
            binary: fixture)
        let clock = ScaledClock(fasterPPM: 50)
        try check(drifting, own: { clock.own($0) - Self.ahead }, widestNs: 50_000_000, "round \(round)")
    }

    /// If the trial sends nothing for too long, the agent ends by itself.
    @Test func anAgentThatHearsNothingEndsByItself() throws {
        let fixture = try #require(Self.fixture)
        var spec = spec()
        (spec.hangTimeoutNs, spec.durationNs) = (1_000_000_000, 60_000_000_000)
        let link = try HostLink(HostEntry(name: "a", run: ["/usr/bin/env"], binary: fixture))
        defer { link.end() }
        _ = try link.awaitHello(binarySHA: nil, withinNs: Self.helloNs)
        let role = HostOrder.Role.writers(first: 0, count: 1, dueTimesDone: 0)
        link.send(try HostFrame(.order, HostOrder(spec: spec, role: role, storeDirectory: "/")))
        _ = try link.expect(.ready, withinNs: HostLink.readyNs)
        link.send(HostFrame(.start, integers: [MonotonicClock.nowNs()]))
        let error = #expect(throws: TrialFault.self) { while try link.next(untilNs: .max) != nil {} }
        #expect(error?.description.contains("the trial has sent nothing for 6000 ms") == true, "\(error as Any)")
    }

    /// Sending takes CPU time and bandwidth, so only progress is sent during the measurement.
    @Test func recordsComeWhenTheWindowIsOver() throws {
        let fixture = try #require(Self.fixture)
        var spec = spec()
        // The last commit is due in the middle of the window.
        (spec.writers.rateHz, spec.durationNs) = (2, 1_000_000_000)
        let station = HostStation(
            try HostLink(HostEntry(name: "a", run: ["/usr/bin/env"], binary: fixture)), writers: 0..<1, .tiny())
        defer { station.link.end() }
        _ = try station.link.awaitHello(binarySHA: nil, withinNs: Self.helloNs)
        let role = HostOrder.Role.writers(first: 0, count: 1, dueTimesDone: 0)
        station.link.send(try HostFrame(.order, HostOrder(spec: spec, role: role, storeDirectory: "/")))
        _ = try station.link.expect(.ready, withinNs: HostLink.readyNs)
        let startNs = MonotonicClock.nowNs() + 50_000_000
        station.link.send(HostFrame(.start, integers: [startNs]))
        while station.report == nil, let frame = try station.link.next(untilNs: .max) {
            #expect(frame.kind == .progress || MonotonicClock.nowNs() >= startNs + spec.durationNs, "\(frame.kind)")
            _ = try station.take(frame)
        }
        #expect(station.shownRecords[0].count == 2)
    }

    /// A faster clock is recognised as another clock. A clock that claims to be this one, and is not, is detected.
    @Test func aClockThatIsNotWhatItSaysIsFoundOut() throws {
        var clock = HostClock(isSame: true)
        try clock.add(ClockExchange(sentNs: 100, arrivedNs: 120, leftNs: 121, returnedNs: 150))
        #expect(clock.isSame && clock.local(7).halfWidthNs == 0 && clock.remote(7) == 7)
        let ahead: Int64 = 1_000_000_000_000
        var clone = HostClock(isSame: true)
        try clone.add(ClockExchange(sentNs: 100, arrivedNs: ahead + 120, leftNs: ahead + 121, returnedNs: 150))
        #expect(!clone.isSame && clone.local(ahead + 500).halfWidthNs >= 25)
        #expect(abs(clone.local(ahead + 500).ns - 500) <= 30)
        #expect(ClockName.current() == ClockName.current() && ClockName.current(fasterPPM: 50) != ClockName.current())
    }
}
