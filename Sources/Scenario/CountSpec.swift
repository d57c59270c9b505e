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
    static func obstacle(
        _ dataset: DatasetSpec, _ observers: ObserversSpec, _ writers: WritersSpec, _ fault: FaultSpec
    ) -> String? {
        if fault.kind != .none { return "a fault comes at a time, and a counted trial has none" }
        if writers.process == .own { return "writers in a process of their own are not counted" }
        if dataset.neighbour != .none { return "a neighbour writes whenever it likes" }
        if observers.calls != .none || observers.churn != nil || observers.subscribe != .idle || observers.pins > 0 {
            return "the observers do something else beside the commits"
        }
        return nil
    }
}

extension TrialSpec {
    /// Enough for ± 0.1 %: figures of one seed repeat to ± 0.02 %, and what is left is how the allocator lays things out.
    private static let countedCommits = 200
    private static let countedWarmUp = 40
    /// A processor that runs under valgrind, on a machine with something else to do, has not hung for a minute.
    private static let countedTimeoutNs: Int64 = 60_000_000_000

    /// Why the trial has no counted form, as a sentence; nil: it has one.
    public var countObstacle: String? {
        choreography == nil
            ? CountSpec.obstacle(dataset, observers, writers, fault) : "a choreography makes no commits to count"
    }

    /// The same trial with its instructions counted, and nothing timed.
    /// - Parameter counter: the name of an `InstructionCounter`.
    public func counted(by counter: String) -> TrialSpec {
        var spec = self
        spec.count = CountSpec(commits: Self.countedCommits, warmUpCommits: Self.countedWarmUp, counter: counter)
        spec.measure = Metric.allCases.filter(\.isOfCountedTrial).map(\.rawValue)
        (spec.warmUpNs, spec.durationNs, spec.observers.workNs) = (0, 0, 0)
        // Whatever its load is, a commit is the same.
        (spec.writers.load, spec.observers.audit) = (.closed, .none)
        spec.hangTimeoutNs = max(spec.hangTimeoutNs, Self.countedTimeoutNs)
        return spec
    }
}

extension Metric {
    /// A figure of counted trials, and of no others.
    public var isOfCountedTrial: Bool {
        switch entry.kind {
        case .instruction, .systemCall: true
        case .allocation: [.writerAllocations, .observerAllocations, .engineAllocations].contains(self)
        case .event, .holding, .processor, .clock: false
        }
    }
}
