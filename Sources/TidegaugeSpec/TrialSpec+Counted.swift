// The counted form of a trial, and the metrics that it yields.

extension TrialSpec {
    private static let mostCommits = 200
    /// Approximate number of rows that all counted commits together handle: changed rows, once for the store and once
    /// per observer, rows that `count` and `iterate` read in callbacks, and list positions. The more rows a commit
    /// handles, the fewer commits are counted.
    private static let countedRows = 4_000
    private static let fewestCommits = 3
    /// Number of counted commits per warm-up commit.
    private static let countedPerWarmUp = 5
    /// Minimum hang timeout: a process under valgrind on a busy machine is slow.
    private static let countedTimeoutNs: Int64 = 60_000_000_000

    /// The reason why the trial has no counted form, as a sentence, or nil if it has one.
    public var countObstacle: String? {
        interleaving == nil
            ? CountSpec.obstacle(dataset, observers, writers, fault) : "an interleaving test makes no commits to count"
    }

    /// Returns the same trial in its counted form, without timing.
    /// - Parameters:
    ///   - counter: name of an `InstructionCounter`.
    ///   - asked: number of commits; nil: 3 to 200, fewer if a commit handles many rows.
    public func counted(by counter: String, commits asked: Int? = nil) -> TrialSpec {
        var spec = self
        let affordable = Self.countedRows / rowsOfCommit
        let commits = asked ?? min(Self.mostCommits, max(Self.fewestCommits, affordable))
        spec.count = CountSpec(
            commits: commits, warmUpCommits: max(1, commits / Self.countedPerWarmUp), counter: counter)
        spec.measure = Metric.allCases.filter { $0.isOfCountedTrial || $0.isOfCountedSweep }.map(\.rawValue)
        (spec.warmUpNs, spec.durationNs) = (0, 0)
        // The schedule of the load does not change what one commit does.
        (spec.writers.load, spec.observers.audit) = (.closed, .none)
        spec.hangTimeoutNs = max(spec.hangTimeoutNs, Self.countedTimeoutNs)
        return spec
    }
}

extension TrialSpec {
    /// Approximate number of rows that one commit handles.
    private var rowsOfCommit: Int {
        let readRows =
            switch observers.reads {
            // A store without an index on the counted property scans all rows.
            case .count, .iterate: dataset.items * observers.count
            case nil, .some(.none), .lookup, .sum, .window, .open: 0
            }
        return max(writers.rowsPerCommit, 1) * (1 + observers.count) + readRows
            + (observers.sort == .list ? dataset.items : 0)
    }
}

extension Metric {
    /// Whether the metric is computed over the counted trials of a sweep.
    fileprivate var isOfCountedSweep: Bool {
        guard case .sweep = entry.source else { return false }
        return entry.kind == .instruction
    }

    /// Whether the metric exists only in counted trials.
    public var isOfCountedTrial: Bool { counted != nil }
}
