// Measures the load of the machine before the first trial. A run often follows a build whose last processes use the
// processors, so it waits for them, but only for a limited time.
//
// The load is the share of non-idle processor time (/proc/stat). It drops as soon as a build ends, unlike load averages
// or avg10 of pressure, which take half a minute. It also shows a single co-tenant, which causes no pressure before
// there are trials.
import Glibc
import StillingWellBasis

/// Load of the processors before the first trial, in environment.json.
public struct StartLoad: Codable, Sendable, Equatable {
    /// Share of processor time above which the machine counts as busy.
    public static let mostBusyShare = 0.25

    /// Share of non-idle processor time at the start of the run, to three decimals; nil if it is unknown.
    public var busyShareAtFirst: Double?
    /// The same share right before the first trial.
    public var busyShare: Double?
    /// Time waited in ns; 0 if not necessary or not requested.
    public var waitedNs: Int64

    public init(busyShareAtFirst: Double?, busyShare: Double?, waitedNs: Int64) {
        (self.busyShareAtFirst, self.busyShare, self.waitedNs) = (busyShareAtFirst, busyShare, waitedNs)
    }

    public var isBusy: Bool { busyShare.map { $0 > Self.mostBusyShare } ?? false }
}

/// Time of all processors since boot, in kernel ticks.
public struct ProcessorTime: Sendable, Equatable {
    public var busyTicks: Int64
    public var totalTicks: Int64

    public init(busyTicks: Int64, totalTicks: Int64) { (self.busyTicks, self.totalTicks) = (busyTicks, totalTicks) }

    /// Returns nil if the kernel does not report it.
    public static func read() -> ProcessorTime? { ProcFile.text("/proc/stat").flatMap(parse) }

    /// Busy is everything except idle and iowait, including stolen time, which is not available either.
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

/// Measures the load, and waits while it is high. Clock and readings are injected for tests.
public struct QuietWait {
    /// Time after which no further reading begins.
    public static let longestNs: Int64 = 60_000_000_000
    /// Length of a reading while waiting, long enough for kernel ticks of 10 ms.
    static let windowNs: Int64 = 1_000_000_000
    /// Length of a reading without waiting.
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

    /// Measures for 1 s, then repeats as long as the machine is busy, for about 60 s at most. Blocks the calling
    /// thread.
    /// - Parameters:
    ///   - isPatient: false: a single reading of 0.1 s, without waiting.
    ///   - onWait: called with the busy share before waiting, if the machine is busy.
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
