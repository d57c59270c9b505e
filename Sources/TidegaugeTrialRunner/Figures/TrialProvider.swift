// What computes a metric from the records of one trial: one entry per metric, in the table of its subject.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

enum TrialProvider: Sendable {
    /// A distribution over events; nil where this trial has none.
    case events(Span = .within, @Sendable (FigureSheet) -> LatencyHistogram?)
    /// A distribution over time, and its means by interval.
    case overTime(@Sendable (FigureSheet) -> (distribution: TimeWeightedHistogram, means: IntervalSeries))
    /// The `value`, nil for n/a, and the samples behind it; nothing where this trial is not meant.
    case number(@Sendable (FigureSheet) -> (value: Double?, n: Int)?)
    case figures(@Sendable (FigureSheet) -> [Figure])
    /// What the process holds, by `HoldingsMeter`.
    case held(Looks, @Sendable (any DrivenStore) throws -> Int?)

    /// Between which moments an event lies.
    enum Span: Sendable {
        /// From a due time of the schedule to what the writer did.
        case schedule
        /// From a due time to a callback.
        case dueToCallback
        /// From another moment of a commit to a callback.
        case commitToCallback
        case within
        /// Before the window, or nothing of the load: it cannot drift with it.
        case outside

        var isFromDue: Bool { self == .schedule || self == .dueToCallback }
        var isDelivery: Bool { self == .dueToCallback || self == .commitToCallback }

        /// A closed loop has no due times; what is measured from one would be called a latency and be none.
        func exists(_ load: WritersSpec.Load) -> Bool {
            switch self {
            case .schedule: load == .open
            case .dueToCallback, .commitToCallback: load != .closed
            case .within, .outside: true
            }
        }
    }

    enum Looks: Sendable {
        case often
        /// At two moments at which the same observers are there.
        case atEnds
    }

    /// By metric. A metric in two tables is a mistake, which the first trial would end at.
    static let all: [Metric: TrialProvider] = Dictionary(
        uniqueKeysWithValues: [writing, delivery, resources, harness].joined().map { ($0.key, $0.value) })

    typealias Holding = (looks: Looks, amount: @Sendable (any DrivenStore) throws -> Int?)

    /// What can be looked at while the load runs.
    static let holdings = all.compactMapValues { provider -> Holding? in
        if case .held(let looks, let amount) = provider { (looks, amount) } else { nil }
    }
}

/// So much of an amount for each of `n`.
func each(_ amount: Double?, of n: Int) -> (value: Double?, n: Int) { (n > 0 ? amount.map { $0 / Double(n) } : nil, n) }

extension LatencyHistogram {
    func medianRatio(to other: LatencyHistogram) -> Double? {
        percentile(.p50).flatMap { own in
            other.percentile(.p50).map { Double(own.value) / Double(Swift.max($0.value, 1)) }
        }
    }
}
