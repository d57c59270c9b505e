// Tests whether p-values are uniform, as they must be without effects: the largest distance of their distribution
// from the diagonal (Kolmogorov–Smirnov). Pure.
import Glibc

public struct Uniformity: Sendable, Equatable {
    /// Largest distance between x and the share of values at or below x.
    public var distance: Double
    /// Probability of a distance at least as large for uniform values. M. A. Stephens' form (JRSS B 1970). Discrete
    /// values, such as p-values of few pairs, can make it too small.
    public var pValue: Double

    /// `nil` when empty. O(n log n).
    public static func test(_ values: [Double]) -> Uniformity? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let n = Double(sorted.count)
        let distance = sorted.enumerated().reduce(0.0) { widest, entry in
            let above = Double(entry.offset + 1) / n - entry.element
            let below = entry.element - Double(entry.offset) / n
            return max(widest, above, below)
        }
        let scaled = (n.squareRoot() + 0.12 + 0.11 / n.squareRoot()) * distance
        return Uniformity(distance: distance, pValue: kolmogorov(scaled))
    }

    /// 2 Σ (−1)^(k−1) exp(−2 k² x²).
    private static func kolmogorov(_ x: Double) -> Double {
        guard x > 0.2 else { return 1 }
        let sum = (1...100).reduce(0.0) { sum, k in
            sum + (k.isMultiple(of: 2) ? -1 : 1) * exp(-2 * Double(k * k) * x * x)
        }
        return min(1, max(0, 2 * sum))
    }
}
