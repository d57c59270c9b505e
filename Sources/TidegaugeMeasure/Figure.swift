// One number of a report, before the columns that say which run it belongs to.
import TidegaugeSpec

/// One measured figure of one trial. `value` is nil where the samples do not carry it (an empty cell; `n/a` for people).
public struct Figure: Codable, Sendable, Equatable {
    public var metric: Metric
    public var statistic: Statistic
    public var value: Double?
    /// Samples behind the figure.
    public var n: Int
    /// Samples whose true value is only known to be at least what was recorded.
    public var censored: Int
    public var flags: [FigureFlag]

    public init(
        _ metric: Metric, _ statistic: Statistic, _ value: Double?, n: Int, censored: Int = 0, flags: [FigureFlag] = []
    ) {
        (self.metric, self.statistic, self.value) = (metric, statistic, value)
        (self.n, self.censored, self.flags) = (n, censored, flags)
    }

    /// Whether a file may state such a value. Ratios, squares and sums of plausible values are finite and have logarithms.
    public static func isPlausible(_ value: Double) -> Bool { value == 0 || 1e-30...1e18 ~= abs(value) }
}
