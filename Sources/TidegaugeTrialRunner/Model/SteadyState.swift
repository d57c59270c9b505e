// Decides whether a trial measured a steady state or a transition. It computes the slope of 250 ms means over the
// window, in percent of their median per second. A slope counts only if its whole confidence interval is beyond ±2 %,
// because a short window with few samples always has some slope.
import TidegaugeMeasure

extension IntervalSeries {
    /// Means of the intervals that lie entirely in the window and have samples.
    var wholeMeans: [(seconds: Double, mean: Double)] {
        means.prefix(wholeCount).enumerated().compactMap { index, mean in
            mean.map { (Double(index) * Double(Self.intervalNs) / 1e9, $0) }
        }
    }

    /// Whether the confidence interval of the slope overlaps ±2 % of the median per second, or the median is not
    /// positive. Nil if fewer than 8 whole intervals have samples.
    var isSteady: Bool? {
        let means = wholeMeans
        // Less than 2 s of intervals says nothing about a slope per second.
        guard means.count >= 8 else { return nil }
        var slopes: [Double] = []
        for (index, first) in means.enumerated() {
            for second in means[(index + 1)...] {
                slopes.append((second.mean - first.mean) / (second.seconds - first.seconds))
            }
        }
        slopes.sort()
        let middle = means.map(\.mean).sorted()[means.count / 2]
        guard middle > 0 else { return true }
        // Theil–Sen with the interval of Kendall's tau (Sen 1968): 1.96 standard deviations of the number of ascending
        // minus descending pairs, whose variance is n(n-1)(2n+5)/18 without ties.
        let n = Double(means.count)
        let margin = 1.96 * (n * (n - 1) * (2 * n + 5) / 18).squareRoot()
        let lower = max(0, Int((Double(slopes.count) - margin) / 2))
        let upper = min(slopes.count - 1, Int((Double(slopes.count) + margin) / 2))
        // Allowed slope: ±2 % per second.
        let allowed = 0.02 * middle
        return slopes[lower] <= allowed && slopes[upper] >= -allowed
    }
}
