// The facts of a metric: what a scenario, a run and a comparison have to know of it before anything is measured.

/// One line of the table of metrics. What has no default has to be said of every metric.
public struct MetricEntry: Sendable {
    /// As in the `unit` column.
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
        case commitsPerSecond = "commits/s"
        case objectsPerSecond = "objects/s"
        /// Of a ratio, which has none.
        case one = "1"

        /// In nanoseconds, per something or not.
        public var isTime: Bool { rawValue.hasPrefix("ns") }
        /// Of something per second.
        public var isRate: Bool { rawValue.hasSuffix("/s") }
    }

    /// What kind of quantity it is: whether a disturbed machine may change it, and from where on a difference matters.
    public enum Kind: Sendable {
        /// Events that a store promises, or promises not to bring about: judged in every trial.
        case event
        /// What an allocator counts, per commit.
        case allocation
        /// Instructions per commit of a counted trial.
        case instruction
        /// System calls per commit of a counted trial, what they wrote, and reads of the storage.
        case access
        /// Bytes, pages and descriptors that are held.
        case holding
        /// CPU, and service time, which is nearly that.
        case processor
        /// What clocks, rates and their ratios say, and what depends on who came first: how many commits a callback covers,
        /// how far an observer is behind, how many versions are alive because of it.
        case clock

        /// Counted, and not changed by a processor that was stolen or had to be awaited: a disturbed trial counts for it. One
        /// rule for the limits of a run and for the pairs of a comparison.
        public var isCounted: Bool {
            switch self {
            case .event, .allocation, .instruction, .access, .holding: true
            case .processor, .clock: false
            }
        }

        /// The share of the base from which on a difference matters. CPU and service time are counted on a core's own clock, or
        /// nearly; latencies wait for the machine besides; tails most.
        public func threshold(statistic: String) -> Double {
            let isTail = ["p90", "p99", "p99_9", "p99_99", "max"].contains(statistic)
            return switch self {
            case .event: 0
            // Exact but for what an allocator rounds and keeps.
            case .allocation, .instruction, .access: 0.01
            case .processor: isTail ? 0.1 : 0.02
            case .holding, .clock: isTail ? 0.1 : 0.05
            }
        }
    }

    public enum Shape: Sendable {
        /// Recorded sample by sample (over time, for `staleness` and `version_lag`): percentiles and no single `value`.
        case distribution(of: Samples)
        case number
        /// An interval, `low` to `high`.
        case bracket
    }

    /// Of what a distribution has samples, which says beforehand how many there will be at most.
    public enum Samples: Sendable {
        /// One of each commit.
        case commits
        /// One of each commit and observer whom it concerns, or of each callback.
        case deliveries
        /// One of each observer.
        case observers
        /// So many as it takes, or as the machine allows.
        case others
    }

    /// Which way is worse.
    public enum Worse: String, Sendable, Codable {
        case more, less
        /// Neither: a shift is told and called neither good nor bad.
        case neither
    }

    /// Whose data it is computed from, and so who has its provider.
    public enum Source: Sendable, Hashable {
        case trial
        /// A trial beside its companions, which have no observers or another driver; or what became of the trial.
        case companions
        /// The same trial of another driver.
        case peers
        /// All points of a sweep that varies one of these settings.
        case sweep(over: [Setting])
        case choreography
    }

    /// What is found out about.
    public enum Subject: Sendable {
        case store
        /// The machine, the harness or a trial's own end: nothing that two commits of a store could be compared by.
        case harness
    }

    public let unit: Unit
    public let kind: Kind
    public let shape: Shape
    /// More, unless an entry says otherwise.
    public let worse: Worse
    public let source: Source
    /// Metrics of the same trial that it is computed from: who asks for it gets them as well.
    public let takes: [Metric]
    package let needs: [MetricNeed]
    public let subject: Subject
    /// A time that may lie under zero: the callback of a thread that preempts the writer begins before the commit returns.
    public let mayBeNegative: Bool
    /// In every result, asked for or not.
    public let isOwed: Bool
    /// One line of Markdown: the definition.
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

    /// Of a number that needs nothing.
    init(_ unit: Unit, _ kind: Kind, _ definition: String) { self.init(unit, kind, .number, definition) }
}

// What is asked of a metric most.
extension Metric {
    /// As in the `unit` column.
    public var unit: String { entry.unit.rawValue }
    public var isTime: Bool { entry.unit.isTime }

    /// The statistic meant where a limit names none.
    public var defaultStatistic: String {
        switch entry.shape {
        case .distribution: "p50"
        case .number: "value"
        case .bracket: "low"
        }
    }

    /// The settings one of which a sweep must vary for a metric over the sweep; empty for all others.
    package var neededSweep: [Setting] {
        if case .sweep(let settings) = entry.source { settings } else { [] }
    }

    /// A figure over the points of a sweep, with the variant `*`, rather than of one trial.
    public var isOverSweep: Bool { !neededSweep.isEmpty }
}

extension TrialSpec {
    /// What is asked for, of the metrics that this binary knows.
    public var metrics: [Metric] { measure.compactMap { Metric(rawValue: $0) } }

    /// What is asked for, what every trial owes, and what any of these is computed from.
    public var neededMetrics: Set<Metric> {
        var needed = Set(metrics).union(Metric.allCases.filter(\.entry.isOwed))
        var rest = Array(needed)
        while let metric = rest.popLast() {
            for part in metric.entry.takes where needed.insert(part).inserted { rest.append(part) }
        }
        return needed
    }
}
