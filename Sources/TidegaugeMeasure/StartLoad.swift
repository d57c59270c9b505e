// What else the machine does before the first trial. A run often follows a build, whose last processes take the processors
// from the first trials; so it waits for them, and not for ever: who is busy all day is told so and measures all the same.
//
// Looked at is the share of the processors' time that was not idle (/proc/stat, over a second): it falls the moment a build
// ends, where a load average or the kernel's pressure (avg10) takes half a minute to; and it shows a single neighbour, who makes
// nobody wait for a processor before there are trials to wait, and is no pressure.
import Glibc
import StillingWellBasis

/// What the processors were found to do before the first trial, in environment.json.
public struct StartLoad: Codable, Sendable, Equatable {
    /// From this share of the processors' time on the machine counts as busy.
    public static let mostBusyShare = 0.25

    /// Share of the processors' time that was not idle, to a thousandth, when the run came to look; nil where the kernel does
    /// not say.
    public var busyShareAtFirst: Double?
    /// The same right before the first trial.
    public var busyShare: Double?
    /// 0 where the run had nothing to wait for, or was not to.
    public var waitedNs: Int64

    public init(busyShareAtFirst: Double?, busyShare: Double?, waitedNs: Int64) {
        (self.busyShareAtFirst, self.busyShare, self.waitedNs) = (busyShareAtFirst, busyShare, waitedNs)
    }

    public var isBusy: Bool { busyShare.map { $0 > Self.mostBusyShare } ?? false }
}

/// Time of all processors since the machine was started, in the kernel's ticks.
public struct ProcessorTime: Sendable, Equatable {
    public var busyTicks: Int64
    public var totalTicks: Int64

    public init(busyTicks: Int64, totalTicks: Int64) { (self.busyTicks, self.totalTicks) = (busyTicks, totalTicks) }

    /// nil where the kernel does not say. Any thread; well under a millisecond.
    public static func read() -> ProcessorTime? { ProcFile.text("/proc/stat").flatMap(parse) }

    /// All but idle and iowait is busy; time that the hypervisor gave to others too, for nobody here could have it.
    static func parse(_ stat: String) -> ProcessorTime? {
        guard let ticks = ProcFile.processorTicks(stat)?.prefix(8), ticks.count >= 4 else { return nil }
        let total = ticks.reduce(0, +)
        return ProcessorTime(busyTicks: total - ticks[3] - (ticks.count > 4 ? ticks[4] : 0), totalTicks: total)
    }

    func busyShare(since earlier: ProcessorTime) -> Double? {
        let length = totalTicks - earlier.totalTicks
        guard length > 0 else { return nil }
        return (Double(busyTicks - earlier.busyTicks) / Double(length) * 1_000).rounded() / 1_000
    }
}

/// Waits for the rest of the machine. Clock and readings are given, so that a test can say what they are.
public struct QuietWait {
    /// Longer than a build's last link, and short beside the run.
    public static let longestNs: Int64 = 60_000_000_000
    /// Long enough for the kernel's ticks of a hundredth of a second.
    static let windowNs: Int64 = 1_000_000_000
    /// Where nothing is waited for and a look has to do.
    static let glanceNs: Int64 = 100_000_000

    private let time: () -> ProcessorTime?
    private let nowNs: () -> Int64
    private let sleepUntilNs: (Int64) -> Void

    public init(
        time: @escaping () -> ProcessorTime? = ProcessorTime.read,
        nowNs: @escaping () -> Int64 = MonotonicClock.nowNs,
        sleepUntilNs: @escaping (Int64) -> Void = Pacing.sleep(untilNs:)
    ) {
        (self.time, self.nowNs, self.sleepUntilNs) = (time, nowNs, sleepUntilNs)
    }

    /// Looks for a second, and then for as long as the machine is busy and a minute has not passed. Blocks the calling thread.
    /// - Parameters:
    ///   - isPatient: false: a tenth of a second's look, and no waiting.
    ///   - onWait: called once, where there is something to wait for, with the busy share.
    public func run(isPatient: Bool, onWait: (Double) -> Void) -> StartLoad {
        let first = look(forNs: isPatient ? Self.windowNs : Self.glanceNs)
        var load = StartLoad(busyShareAtFirst: first, busyShare: first, waitedNs: 0)
        guard isPatient, load.isBusy, let first else { return load }
        onWait(first)
        let startNs = nowNs()
        while load.isBusy, load.waitedNs < Self.longestNs {
            load.busyShare = look(forNs: Self.windowNs)
            load.waitedNs = nowNs() - startNs
        }
        return load
    }

    private func look(forNs lengthNs: Int64) -> Double? {
        guard let before = time() else { return nil }
        sleepUntilNs(nowNs() + lengthNs)
        return time()?.busyShare(since: before)
    }
}
