// A figure: one number of a report, without its run.
import TidegaugeSpec

/// A figure of a trial or a sweep. `value` is nil if there is none, for example with too few samples (an empty cell;
/// `n/a` for people).
public struct Figure: Codable, Sendable, Equatable {
    public var metric: Metric
    public var statistic: Statistic
    public var value: Double?
    /// Number of samples.
    public var n: Int
    /// Number of samples whose value is only a lower bound.
    public var censored: Int
    public var flags: [FigureFlag]

    public init(
        _ metric: Metric, _ statistic: Statistic, _ value: Double?, n: Int, censored: Int = 0, flags: [FigureFlag] = []
    ) {
        (self.metric, self.statistic, self.value) = (metric, statistic, value)
        (self.n, self.censored, self.flags) = (n, censored, flags)
    }

    /// Whether a value in a file is plausible: 0, or of a magnitude whose squares, sums and ratios are finite.
    public static func isPlausible(_ value: Double) -> Bool { value == 0 || 1e-30...1e18 ~= abs(value) }
}
