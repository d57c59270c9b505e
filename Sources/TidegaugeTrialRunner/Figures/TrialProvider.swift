// Computes a metric from the records of one trial. The tables of metrics are in the extensions.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

enum TrialProvider: Sendable {
    /// A distribution over events; nil if this trial has none.
    case events(Span = .within, @Sendable (FigureSheet) -> LatencyHistogram?)
    /// A distribution over time, and its means per interval.
    case overTime(@Sendable (FigureSheet) -> (distribution: TimeWeightedHistogram, means: IntervalSeries))
    /// The `value` (nil for n/a) and its number of samples; nil if the metric does not apply to this trial.
    case number(@Sendable (FigureSheet) -> (value: Double?, n: Int)?)
    case figures(@Sendable (FigureSheet) -> [Figure])
    /// An amount that the process holds, measured by `HoldingsMeter`.
    case held(Looks, @Sendable (any DrivenStore) throws -> Int?)

    /// The two moments that an event lies between.
    enum Span: Sendable {
        /// From a due time of the schedule to an action of the writer.
        case schedule
        /// From a due time to a callback.
        case dueToCallback
        /// From another moment of a commit to a callback.
        case commitToCallback
        case within
        /// Before the window, or independent of the load, so it cannot drift with the load.
        case outside

        var isFromDue: Bool { self == .schedule || self == .dueToCallback }
        var isDelivery: Bool { self == .dueToCallback || self == .commitToCallback }

        /// Whether the span exists under a load. Only an open load has a schedule. A closed loop has no delivery
        /// latencies.
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
        /// At the start of the window and after the load.
        case atEnds
    }

    /// All providers by metric. A metric in two tables is an error and traps at the first use.
    static let all: [Metric: TrialProvider] = Dictionary(
        uniqueKeysWithValues: [writing, delivery, resources, harness].joined().map { ($0.key, $0.value) })

    typealias Holding = (looks: Looks, amount: @Sendable (any DrivenStore) throws -> Int?)

    /// Amounts that `HoldingsMeter` reads.
    static let holdings = all.compactMapValues { provider -> Holding? in
        if case .held(let looks, let amount) = provider { (looks, amount) } else { nil }
    }
}

/// Returns `amount / n` and `n`; the value is nil if `n` is 0.
func each(_ amount: Double?, of n: Int) -> (value: Double?, n: Int) { (n > 0 ? amount.map { $0 / Double(n) } : nil, n) }

extension LatencyHistogram {
    func medianRatio(to other: LatencyHistogram) -> Double? {
        percentile(.p50).flatMap { own in
            other.percentile(.p50).map { Double(own.value) / Double(Swift.max($0.value, 1)) }
        }
    }
}
