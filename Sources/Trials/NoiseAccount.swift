// What the machine did to one trial, and whether that makes the trial void. The rule knows nothing of what was measured.
import Measure

/// From the start of the measured window to the end of the load.
public struct NoiseAccount: Codable, Sendable, Equatable {
    /// Of the time of all processors, what the hypervisor gave to somebody else; nil where the kernel does not say.
    public var stealShare: Double?
    /// Of the time, that some task waited for a processor.
    public var pressureShare: Double?
    public var hiccupP99Ns: Int64?
    public var hiccups: Int
    public var involuntarySwitches: Int64
    /// How much of their time neighbours on this machine took from the trial's threads; nil where the kernel does not say.
    public var waitShare: Double?

    package init(
        _ pressure: Pressure, _ hiccups: LatencyHistogram, contention: Contention? = nil, lengthNs: Int64,
        cores: Int = PressureProbe.cores
    ) {
        let length = Double(max(lengthNs, 1))
        stealShare = pressure.stealShare(lengthNs: lengthNs, cores: cores)
        waitShare = contention?.waitShare
        pressureShare = pressure.cpuSomeNs.map { Double($0) / length }
        hiccupP99Ns = hiccups.percentile(.p99)?.value
        self.hiccups = hiccups.count
        involuntarySwitches = pressure.involuntarySwitches
    }

    /// Why the trial says nothing about the store; nil where it does.
    /// - Parameter calibratedNs: p99 of hiccups on this machine at rest.
    public func void(calibratedNs: Int64?) -> String? {
        if let stealShare, stealShare > NoiseLimits.mostStealShare { return "steal=\(Self.percent(stealShare))" }
        if let waitShare, waitShare > NoiseLimits.mostWaitShare { return "cpu_wait=\(Self.percent(waitShare))" }
        let limitNs = NoiseLimits.mostHiccupNs(calibratedNs: calibratedNs.map { Double($0) })
        if let hiccupP99Ns, Double(hiccupP99Ns) > limitNs { return "hiccup_p99=\(hiccupP99Ns / 1_000)us" }
        return nil
    }

    private static func percent(_ share: Double) -> String { "\((share * 1_000).rounded() / 10)%" }
}
