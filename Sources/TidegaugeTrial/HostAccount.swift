// What is known of a host that took part in a trial, beside what it has recorded. Values only.
import TidegaugeMeasure

public struct HostAccount: Codable, Sendable, Equatable {
    /// Its clock beside the trial's own.
    public struct Clock: Codable, Sendable, Equatable {
        /// Both read one clock: nothing is converted.
        public var isSame: Bool
        /// Pings that were answered.
        public var exchanges: Int
        /// Between what it is ahead by, at the start of the window.
        public var aheadAtLeastNs: Int64
        public var aheadAtMostNs: Int64
        /// By how much its moments may be wrong on the trial's clock, either way: at the commit where that is most.
        public var halfWidthNs: Int64

        package init(isSame: Bool, exchanges: Int, aheadNs: ClosedRange<Int64>, halfWidthNs: Int64) {
            (self.isSame, self.exchanges, self.halfWidthNs) = (isSame, exchanges, halfWidthNs)
            (aheadAtLeastNs, aheadAtMostNs) = (aheadNs.lowerBound, aheadNs.upperBound)
        }
    }

    /// As the hosts file names it.
    public var name: String
    /// Why it did not come to its end; nil where it did.
    public var loss: String?
    /// That it has made, as far as is known.
    public var commits: Int
    public var clock: Clock
    /// Within the measured window.
    public var cpu: CPUAccount?
    public var noise: NoiseAccount?
    /// nil where the agent was started from this very file, on this machine.
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
    /// Why the trial says nothing about the store: what disturbed this machine, or any host.
    package func disturbance(_ limits: NoiseLimits) -> String? {
        if let own = noise?.disturbance(limits) { return own.text }
        for host in hosts ?? [] {
            if let theirs = host.noise?.disturbance(limits) { return "\(theirs.text) on \(host.name)" }
        }
        return nil
    }
}
