// The normal distribution, as needed for sample sizes. Pure.
import Glibc

public enum Normal {
    /// Φ(z).
    public static func cumulative(_ z: Double) -> Double { erfc(-z / 2.0.squareRoot()) / 2 }

    /// Φ⁻¹(p) for 0 < p < 1 by bisection.
    public static func quantile(_ p: Double) -> Double {
        precondition(p > 0 && p < 1, "a quantile needs a probability between 0 and 1")
        var (low, high) = (-40.0, 40.0)
        while high - low > 1e-12 {
            let middle = (low + high) / 2
            if cumulative(middle) < p { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}
