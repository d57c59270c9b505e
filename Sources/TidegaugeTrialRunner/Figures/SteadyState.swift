// Whether a trial measured a state or a transition: the slope of 250 ms means over the window, in percent of their median
// per second. A slope is held against the trial only where its sign is beyond chance, because a short window of few
// samples has some slope always.
import TidegaugeMeasure

extension IntervalSeries {
    /// Means of the intervals that lie in the window as a whole, where there is something.
    var wholeMeans: [(seconds: Double, mean: Double)] {
        means.prefix(wholeCount).enumerated().compactMap { index, mean in
            mean.map { (Double(index) * Double(Self.intervalNs) / 1e9, $0) }
        }
    }

    /// nil where there is too little to say.
    var isSteady: Bool? {
        let means = wholeMeans
        // Fewer intervals than two seconds have say nothing about a slope per second.
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
        // Theil–Sen with the interval of Kendall's tau (Sen 1968): 1.96 standard deviations of the number of
        // ascending pairs, n(n-1)(2n+5)/18 without ties.
        let n = Double(means.count)
        let margin = 1.96 * (n * (n - 1) * (2 * n + 5) / 18).squareRoot()
        let lower = max(0, Int((Double(slopes.count) - margin) / 2))
        let upper = min(slopes.count - 1, Int((Double(slopes.count) + margin) / 2))
        // ±2 % per second.
        let allowed = 0.02 * middle
        return slopes[lower] <= allowed && slopes[upper] >= -allowed
    }
}
