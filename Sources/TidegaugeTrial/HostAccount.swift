// Facts about a host that took part in a trial, besides its recordings. Values only.
import TidegaugeMeasure

public struct HostAccount: Codable, Sendable, Equatable {
    /// The host's clock relative to the trial's clock.
    public struct Clock: Codable, Sendable, Equatable {
        /// Whether both are the same clock, so that no conversion is needed.
        public var isSame: Bool
        /// Number of pings that were answered.
        public var exchanges: Int
        /// Bounds of the host clock's lead at the start of the window, in ns.
        public var aheadAtLeastNs: Int64
        public var aheadAtMostNs: Int64
        /// Maximum error, ± ns, of the host's times after conversion to the trial's clock, over commits and
        /// observations.
        public var halfWidthNs: Int64

        package init(isSame: Bool, exchanges: Int, aheadNs: ClosedRange<Int64>, halfWidthNs: Int64) {
            (self.isSame, self.exchanges, self.halfWidthNs) = (isSame, exchanges, halfWidthNs)
            (aheadAtLeastNs, aheadAtMostNs) = (aheadNs.lowerBound, aheadNs.upperBound)
        }
    }

    /// Name in the hosts file.
    public var name: String
    /// Reason why it ended early, or nil.
    public var loss: String?
    /// Number of its commits, as far as known.
    public var commits: Int
    public var clock: Clock
    /// CPU time of its writing process; nil if it sent no report.
    public var cpu: CPUAccount?
    public var noise: NoiseAccount?
    /// nil if the agent was not asked for it or sent no report.
    public var environment: EnvironmentReport?

    package init(
        name: String, loss: String?, commits: Int, clock: Clock, cpu: CPUAccount?, noise: NoiseAccount?,
        environment: EnvironmentReport?
    ) {
        (self.name, self.loss, self.commits, self.clock) = (name, loss, commits, clock)
        (self.cpu, self.noise, self.environment) = (cpu, noise, environment)
    }
}

extension TrialResult {
    /// Returns what disturbed this machine or any host, so that the trial is not valid, or nil.
    package func disturbance(_ limits: NoiseLimits) -> String? {
        if let own = noise?.disturbance(limits) { return own.text }
        for host in hosts ?? [] {
            if let theirs = host.noise?.disturbance(limits) { return "\(theirs.text) on \(host.name)" }
        }
        return nil
    }
}
