// A figure: one number of a report, without its run.
import TidegaugeSpec

/// A figure of one trial. `value` is nil if the samples do not suffice (an empty cell; `n/a` for people).
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

    /// Whether a value in a file is plausible. Ratios, squares and sums of such values are finite and have logarithms.
    public static func isPlausible(_ value: Double) -> Bool { value == 0 || 1e-30...1e18 ~= abs(value) }
}
