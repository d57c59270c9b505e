// Static facts of a metric, which scenarios, runs and comparisons read before anything is measured.

/// One row of the table of metrics.
public struct MetricEntry: Sendable {
    /// Value of the `unit` column.
    public enum Unit: String, Sendable {
        case ns
        case nsPerCommit = "ns/commit"
        case nsPerObserverCommit = "ns/observer/commit"
        case versions, commits, files, bytes, count
        case commitsPerCallback = "commits/callback"
        case allocationsPerCommit = "allocations/commit"
        case bytesPerCommit = "bytes/commit"
        case instructionsPerCommit = "instructions/commit"
        case systemCallsPerCommit = "calls/commit"
        case readsPerCommit = "reads/commit"
        case countsPerCommit = "counts/commit"
        case commitsPerSecond = "commits/s"
        case objectsPerSecond = "objects/s"
        /// A ratio without a unit.
        case one = "1"

        /// Whether the unit is nanoseconds or nanoseconds per something.
        public var isTime: Bool { rawValue.hasPrefix("ns") }
        /// Whether the unit is something per second.
        public var isRate: Bool { rawValue.hasSuffix("/s") }
    }

    /// Kind of quantity. It decides whether a disturbed machine may change the value, and the difference that matters.
    public enum Kind: Sendable {
        /// Numbers of events, such as violations and failed commits. A limit on one is judged in every trial.
        case event
        /// Allocations or allocated bytes per commit.
        case allocation
        /// Instructions per commit of a counted trial, and their growth over a sweep.
        case instruction
        /// System calls or storage reads per commit of a counted trial, and counters of an engine.
        case access
        /// Bytes and descriptors that are held, and ratios of them.
        case holding
        /// CPU time of a trial, and times that are mostly CPU time, such as the service time.
        case processor
        /// Everything else: clock times, rates and ratios, and quantities that depend on thread timing, such as commits
        /// per callback, version lag and versions kept alive.
        case clock

        /// Whether the value is counted and independent of stolen or delayed CPU time, so that disturbed trials stay
        /// valid. Applies to the limits of a run and to the pairs of a comparison.
        public var isCounted: Bool {
            switch self {
            case .event, .allocation, .instruction, .access, .holding: true
            case .processor, .clock: false
            }
        }

        /// Returns the share of the base from which a difference matters. Counts vary least, then CPU and service time.
        /// Latencies also wait for the machine. Tails of times vary most.
        public func threshold(statistic: String) -> Double {
            let isTail = ["p90", "p99", "p99_9", "p99_99", "max"].contains(statistic)
            return switch self {
            case .event: 0
            // Nearly exact counts.
            case .allocation, .instruction, .access: 0.01
            case .processor: isTail ? 0.1 : 0.02
            case .holding, .clock: isTail ? 0.1 : 0.05
            }
        }
    }

    public enum Shape: Sendable {
        /// Samples are recorded one by one (over time for `staleness` and `version_lag`). The result is percentiles,
        /// extremes, mean and count, no `value`.
        case distribution(of: Samples)
        case number
        /// An interval from `low` to `high`.
        case bracket
    }

    /// Unit that a distribution has samples of. Except for `others`, it bounds the number of samples in advance.
    public enum Samples: Sendable {
        /// One sample per commit.
        case commits
        /// One sample per callback, or per pair of a commit and an observer that it affects.
        case deliveries
        /// One sample per observer.
        case observers
        /// A number that depends on the run or the machine.
        case others
    }

    /// Direction in which a change is a regression.
    public enum Worse: String, Sendable, Codable {
        case more, less
        /// A change is reported, but is neither good nor bad.
        case neither
    }

    /// Data that the metric is computed from. It decides which table has the provider.
    public enum Source: Sendable, Hashable {
        case trial
        /// A trial and its companion trials (without observers, or on the no-op driver), a counted trial, or the
        /// outcome of a trial.
        case companions
        /// A trial and the same trial on the first driver of the scenario.
        case peers
        /// All points of a sweep that varies at least one of these settings.
        case sweep(over: [Setting])
        case interleavingTest
    }

    /// The thing that the metric measures.
    public enum Subject: Sendable {
        case store
        /// The machine, the harness or the end of the trial. Commits of a store are not compared by it.
        case harness
    }

    public let unit: Unit
    public let kind: Kind
    public let shape: Shape
    /// Default: `more`.
    public let worse: Worse
    public let source: Source
    /// Metrics that it is computed from. They are measured and reported with it.
    public let takes: [Metric]
    package let needs: [MetricNeed]
    public let subject: Subject
    /// Whether a time can be negative, because a callback can begin before the commit call returns.
    public let mayBeNegative: Bool
    /// Whether every trial that has the metric reports it, requested or not.
    public let isOwed: Bool
    /// Definition, one line of Markdown.
    public let definition: String

    init(
        _ unit: Unit, _ kind: Kind, _ shape: Shape = .number, worse: Worse = .more, from source: Source = .trial,
        takes: [Metric] = [], needs: [MetricNeed] = [], mayBeNegative: Bool = false, about subject: Subject = .store,
        isOwed: Bool = false, _ definition: String
    ) {
        (self.unit, self.kind, self.shape, self.worse) = (unit, kind, shape, worse)
        (self.source, self.takes, self.needs, self.subject) = (source, takes, needs, subject)
        (self.mayBeNegative, self.isOwed, self.definition) = (mayBeNegative, isOwed, definition)
    }

    /// Creates the entry of a number without needs.
    init(_ unit: Unit, _ kind: Kind, _ definition: String) { self.init(unit, kind, .number, definition) }
}

// Shortcuts to frequently used facts.
extension Metric {
    /// Value of the `unit` column.
    public var unit: String { entry.unit.rawValue }
    public var isTime: Bool { entry.unit.isTime }

    /// Statistic of a limit that names none.
    public var defaultStatistic: String {
        switch entry.shape {
        case .distribution: "p50"
        case .number: "value"
        case .bracket: "low"
        }
    }

    /// Settings of which a sweep must vary at least one, for a metric over a sweep. Empty for all others.
    package var neededSweep: [Setting] {
        if case .sweep(let settings) = entry.source { settings } else { [] }
    }

    /// Whether the metric is computed over the points of a sweep (variant `*`) instead of from one trial.
    public var isOverSweep: Bool { !neededSweep.isEmpty }
}

// Requirements, and the use of a metric.
extension Metric {
    public var needsObservers: Bool { entry.needs.contains(.observers) }
    public var needsBaseline: Bool { entry.needs.contains(.baseline) }
    public var needsNoop: Bool { entry.needs.contains(.noop) }
    public var needsWakeProbe: Bool { entry.needs.contains(.wakeProbe) }
    public var countsAllocations: Bool { entry.needs.contains(.allocationCounters) }

    /// Whether the metric can compare two commits: a figure of the store on one driver at one point, with a better and
    /// a worse direction. Events are judged in every trial instead.
    package var tellsCommitsApart: Bool {
        entry.subject == .store && !isOverSweep && entry.source != .peers && entry.worse != .neither
            && entry.kind != .event
    }
}

extension TrialSpec {
    /// Requested metrics that this binary knows.
    public var metrics: [Metric] { measure.compactMap(Metric.init(recorded:)) }

    /// Requested metrics, metrics that every trial reports, and the metrics that any of these is computed from.
    public var neededMetrics: Set<Metric> {
        var needed = Set(metrics).union(Metric.allCases.filter(\.entry.isOwed))
        var rest = Array(needed)
        while let metric = rest.popLast() {
            for part in metric.entry.takes where needed.insert(part).inserted { rest.append(part) }
        }
        return needed
    }
}
