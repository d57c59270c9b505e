// The counted form of a trial, and which figures come of it.

extension TrialSpec {
    private static let mostCommits = 200
    /// Rows that all commits of a trial change, once for the store and once for each observer, and places of a list that they
    /// pass. What a commit does for many it does for each of them, so fewer commits say as much.
    private static let countedRows = 4_000
    private static let fewestCommits = 3
    /// For each that warms up, so many are counted.
    private static let countedPerWarmUp = 5
    /// A processor that runs under valgrind, on a machine with something else to do, has not hung for a minute.
    private static let countedTimeoutNs: Int64 = 60_000_000_000

    /// Why the trial has no counted form, as a sentence; nil: it has one.
    public var countObstacle: String? {
        choreography == nil
            ? CountSpec.obstacle(dataset, observers, writers, fault) : "a choreography makes no commits to count"
    }

    /// The same trial with its instructions counted, and nothing timed.
    /// - Parameters:
    ///   - counter: the name of an `InstructionCounter`.
    ///   - asked: how many commits; nil: up to 200, fewer of many rows.
    public func counted(by counter: String, commits asked: Int? = nil) -> TrialSpec {
        var spec = self
        let affordable = Self.countedRows / rowsOfCommit
        let commits = asked ?? min(Self.mostCommits, max(Self.fewestCommits, affordable))
        spec.count = CountSpec(
            commits: commits, warmUpCommits: max(1, commits / Self.countedPerWarmUp), counter: counter)
        spec.measure = Metric.allCases.filter { $0.isOfCountedTrial || $0.isOfCountedSweep }.map(\.rawValue)
        (spec.warmUpNs, spec.durationNs) = (0, 0)
        // Whatever its load is, a commit is the same.
        (spec.writers.load, spec.observers.audit) = (.closed, .none)
        spec.hangTimeoutNs = max(spec.hangTimeoutNs, Self.countedTimeoutNs)
        return spec
    }
}

extension TrialSpec {
    /// About how many rows a commit has to do with.
    private var rowsOfCommit: Int {
        let readRows =
            switch observers.reads {
            // A store without an index on what is counted goes through all of its rows.
            case .count, .iterate: dataset.items * observers.count
            case nil, .some(.none), .lookup, .sum, .window, .open: 0
            }
        return max(writers.rowsPerCommit, 1) * (1 + observers.count) + readRows
            + (observers.sort == .list ? dataset.items : 0)
    }
}

extension Metric {
    /// A figure over the counted trials of a sweep.
    fileprivate var isOfCountedSweep: Bool {
        guard case .sweep = entry.source else { return false }
        return entry.kind == .instruction
    }

    /// A figure of counted trials, and of no others.
    public var isOfCountedTrial: Bool { counted != nil }
}
