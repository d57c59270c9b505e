// Many tests at once: which of them hold when all are looked at. S. Holm, Scand. J. Statist. 1979 (no false alarm at all);
// Y. Benjamini, Y. Hochberg, JRSS B 1995 (few among the alarms). Pure.

public enum ManyTests {
    /// Smallest p times the number of tests, the next times one less, …, never falling: at most α of them all is a false
    /// alarm where those under α are believed. In the order given. O(n log n).
    public static func holm(_ pValues: [Double]) -> [Double] {
        let order = pValues.indices.sorted { pValues[$0] < pValues[$1] }
        var adjusted = pValues
        var highest = 0.0
        for (place, index) in order.enumerated() {
            highest = max(highest, min(1, pValues[index] * Double(pValues.count - place)))
            adjusted[index] = highest
        }
        return adjusted
    }

    /// Among those under q, at most the share q is expected to be false. In the order given. O(n log n).
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
