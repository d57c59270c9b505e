// Counted trials: the work of a fixed number of commits is counted instead of timed.

/// Settings of a counted trial.
public struct CountSpec: Codable, Sendable, Equatable {
    /// Number of counted commits, which follow `warmUpCommits` uncounted ones.
    public var commits: Int
    /// Number of uncounted commits at the start. They fill caches that the counted commits then use.
    public var warmUpCommits: Int
    /// Name of an `InstructionCounter`.
    public var counter: String

    public init(commits: Int, warmUpCommits: Int, counter: String) {
        (self.commits, self.warmUpCommits, self.counter) = (commits, warmUpCommits, counter)
    }

    /// Returns the reason why trials of these values cannot be counted, as a sentence, or nil if they can.
    package static func obstacle(
        _ dataset: DatasetSpec, _ observers: ObserversSpec, _ writers: WritersSpec, _ fault: FaultSpec
    ) -> String? {
        if fault.kind != .none { return "a fault comes at a time, and a counted trial has none" }
        if writers.hosts != nil { return "writers on other hosts are not counted" }
        if writers.process == .own { return "writers in a process of their own are not counted" }
        if dataset.coTenant != .none { return "a co-tenant writes at any time" }
        if observers.calls != .none || observers.churn != nil || observers.subscribe != .idle
            || observers.heldSnapshots > 0
        {
            return "the observers do something else beside the commits"
        }
        return nil
    }
}
