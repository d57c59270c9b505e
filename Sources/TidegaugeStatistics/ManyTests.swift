// Correction for many tests at once with a bounded share of false alarms. Y. Benjamini, Y. Hochberg, JRSS B 1995. Pure.

public enum ManyTests {
    /// Returns adjusted p-values in the given order. Of the tests below q, at most the share q is expected to be a
    /// false alarm. O(n log n).
    public static func benjaminiHochberg(_ pValues: [Double]) -> [Double] {
        let order = pValues.indices.sorted { pValues[$0] > pValues[$1] }
        var adjusted = pValues
        var lowest = 1.0
        for (place, index) in order.enumerated() {
            lowest = min(lowest, pValues[index] * Double(pValues.count) / Double(pValues.count - place))
            adjusted[index] = lowest
        }
        return adjusted
    }
}
