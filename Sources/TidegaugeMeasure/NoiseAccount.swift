// Disturbances of a trial by its machine, and the rule by which they make the trial void, which does not depend on the
// store's figures. Pure.

/// Disturbances from the start of the measured window to the end of the load. Hiccups (late wake-ups of `HiccupProbe`)
/// also include the warm-up, and the time until everything was delivered.
public struct NoiseAccount: Codable, Sendable, Equatable {
    /// Lower bound of the share of the time of all processors that the hypervisor gave to other machines. Nil if the
    /// kernel does not say.
    public var stealShare: Double?
    /// Share of the time in which at least one task waited for a processor. Nil if the kernel does not say.
    public var pressureShare: Double?
    public var hiccupP99Ns: Int64?
    public var hiccups = 0
    public var involuntarySwitches: Int64 = 0
    /// Share of the trial's threads' time that other programs of this machine took. Nil if the kernel does not say.
    public var waitShare: Double?

    public init(stealShare: Double? = nil, hiccupP99Ns: Int64? = nil) {
        (self.stealShare, self.hiccupP99Ns) = (stealShare, hiccupP99Ns)
    }

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

    /// Returns an account with the larger steal share, wait share and hiccup time of both, for a figure that is
    /// computed from two trials.
    package func worse(_ other: NoiseAccount) -> NoiseAccount {
        var worse = self
        worse.stealShare = [stealShare, other.stealShare].compactMap { $0 }.max()
        worse.waitShare = [waitShare, other.waitShare].compactMap { $0 }.max()
        worse.hiccupP99Ns = [hiccupP99Ns, other.hiccupP99Ns].compactMap { $0 }.max()
        return worse
    }

    /// The first disturbance beyond its limit, which makes the trial void; nil if there is none.
    public func disturbance(_ limits: NoiseLimits) -> Disturbance? {
        if let stealShare, stealShare > limits.mostStealShare {
            return .init(kind: .steal, amount: percent(stealShare))
        }
        if let waitShare, waitShare > limits.mostWaitShare { return .init(kind: .wait, amount: percent(waitShare)) }
        if let hiccupP99Ns, Double(hiccupP99Ns) > limits.mostHiccupNs {
            return .init(kind: .hiccups, amount: "\(hiccupP99Ns / 1_000)us")
        }
        return nil
    }

    private func percent(_ share: Double) -> String { "\((share * 1_000).rounded() / 10)%" }
}

/// A disturbance beyond its limit.
public struct Disturbance: Sendable, Equatable {
    public enum Kind: String, Sendable {
        case steal
        case wait = "cpu_wait"
        case hiccups = "hiccup_p99"
    }

    public var kind: Kind
    public var amount: String

    /// Text as in flags: `steal=3.1%`.
    public var text: String { "\(kind.rawValue)=\(amount)" }
}

/// Limits beyond which a disturbance makes a trial void.
public struct NoiseLimits: Codable, Sendable, Equatable {
    /// Largest share of the machine's time that the hypervisor may take.
    public var mostStealShare = 0.02
    /// Largest share of a trial's possible run time that other programs may take (`Contention.waitShare`).
    public var mostWaitShare = 0.1
    /// Largest 99th percentile of late wake-ups, in nanoseconds.
    public var mostHiccupNs: Double

    /// - Parameter calibratedHiccupNs: p99 of hiccups on this machine at rest, if known. The limit is four times it,
    ///   and at least 5 ms.
    public init(calibratedHiccupNs: Double? = nil) { mostHiccupNs = max(5e6, 4 * (calibratedHiccupNs ?? 0)) }
}

extension Pressure {
    /// Lower bound of the share of all processors' time in a window that the hypervisor gave to other machines,
    /// limited by the kernel's ticks. nil if the kernel does not report it.
    /// - Parameter cores: number of processors that stolen time is summed over.
    public func stealShare(lengthNs: Int64, cores: Int = PressureProbe.cores) -> Double? {
        stealAtLeastNs.map { Double($0) / (Double(max(lengthNs, 1)) * Double(max(cores, 1))) }
    }
}
