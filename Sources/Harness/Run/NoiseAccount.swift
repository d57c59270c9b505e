// What the machine did to one trial, and whether that makes the trial void. The rule knows nothing of what was measured.
import Measure

/// From the start of the measured window to the end of the load.
public struct NoiseAccount: Codable, Sendable, Equatable {
    /// Of the machine's time, that the hypervisor gave to somebody else; nil where the kernel does not say.
    public var stealShare: Double?
    /// Of the time, that some task waited for a processor.
    public var pressureShare: Double?
    public var hiccupP99Ns: Int64?
    public var hiccups: Int
    public var involuntarySwitches: Int64

    init(_ pressure: Pressure, _ hiccups: LatencyHistogram, lengthNs: Int64) {
        let length = Double(max(lengthNs, 1))
        stealShare = pressure.stealNs.map { Double($0) / length }
        pressureShare = pressure.cpuSomeNs.map { Double($0) / length }
        hiccupP99Ns = hiccups.percentile(.p99)?.value
        self.hiccups = hiccups.count
        involuntarySwitches = pressure.involuntarySwitches
    }

    /// More of its time than this stolen, and a trial is void.
    static let mostSteal = 0.02
    /// A sleeper that wakes later than this, and than four times what is usual here, at p99.
    static let mostHiccupNs: Int64 = 5_000_000
    static let hiccupFactor: Int64 = 4

    /// Why the trial says nothing about the store; nil where it does.
    /// - Parameter calibratedNs: p99 of hiccups on this machine at rest.
    public func void(calibratedNs: Int64?) -> String? {
        if let stealShare, stealShare > Self.mostSteal {
            return "steal=\(Self.percent(stealShare))"
        }
        let limitNs = max(Self.mostHiccupNs, Self.hiccupFactor * (calibratedNs ?? 0))
        if let hiccupP99Ns, hiccupP99Ns > limitNs { return "hiccup_p99=\(hiccupP99Ns / 1_000)us" }
        return nil
    }

    private static func percent(_ share: Double) -> String { "\((share * 1_000).rounded() / 10)%" }
}
