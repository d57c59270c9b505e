// From where on a machine's noise makes a trial void: the same for the trials of a run and the pairs of a comparison. Fixed
// before anything is measured, and knows nothing of what was. Pure.

public enum NoiseLimits {
    /// Of the machine's time, taken by the hypervisor.
    public static let mostStealShare = 0.02
    /// Of the time in which a trial's threads ran or were kept from it by others: see `Contention`.
    public static let mostWaitShare = 0.1

    /// Late wake-ups, 99th percentile.
    /// - Parameter calibratedNs: what is usual on this machine at rest, where that is known; four times it is not noise.
    public static func mostHiccupNs(calibratedNs: Double?) -> Double { max(5e6, 4 * (calibratedNs ?? 0)) }
}

extension Pressure {
    /// Of the time of all processors over a window, what the hypervisor gave to others: as little as the kernel's ticks allow.
    /// nil where the kernel does not say.
    /// - Parameter cores: those that the kernel counts stolen time of.
    public func stealShare(lengthNs: Int64, cores: Int = PressureProbe.cores) -> Double? {
        stealAtLeastNs.map { Double($0) / (Double(max(lengthNs, 1)) * Double(max(cores, 1))) }
    }
}
