// A trial whose instructions are counted: so many commits instead of seconds, one after the other, each thread in its turn.
// Which of two threads comes first would be counted too, and is no property of a store.

/// How a trial is counted.
public struct CountSpec: Codable, Sendable, Equatable {
    /// Counted, after as many as `warmUpCommits`.
    public var commits: Int
    /// What the first commits of a store fill and later ones find.
    public var warmUpCommits: Int
    /// The name of an `InstructionCounter`.
    public var counter: String

    public init(commits: Int, warmUpCommits: Int, counter: String) {
        (self.commits, self.warmUpCommits, self.counter) = (commits, warmUpCommits, counter)
    }

    /// Why trials of these values have no counted form, as a sentence; nil: they have one.
    package static func obstacle(
        _ dataset: DatasetSpec, _ observers: ObserversSpec, _ writers: WritersSpec, _ fault: FaultSpec
    ) -> String? {
        if fault.kind != .none { return "a fault comes at a time, and a counted trial has none" }
        if writers.hosts != nil { return "writers on other hosts are not counted" }
        if writers.process == .own { return "writers in a process of their own are not counted" }
        if dataset.neighbour != .none { return "a neighbour writes whenever it likes" }
        if observers.calls != .none || observers.churn != nil || observers.subscribe != .idle || observers.pins > 0 {
            return "the observers do something else beside the commits"
        }
        return nil
    }
}
