// Smallest detectable effect of a number of pairs, and number of pairs for an effect: the normal approximation of the
// signed-rank test, whose efficiency is 3/π = 0.955 of the t-test's (Hodges & Lehmann 1956). Effects are logarithms of
// ratios. Pure.
import Glibc

public struct DetectableEffect: Sendable, Equatable {
    private static let efficiency = 0.955

    /// Probability of a false alarm, one-sided.
    public var alpha: Double
    /// Probability of missing the effect.
    public var beta: Double

    public init(alpha: Double = 0.01, beta: Double = 0.2) { (self.alpha, self.beta) = (alpha, beta) }

    /// Returns the smallest effect that `pairs` differences of standard deviation `sigma` detect; exp(effect) − 1 is
    /// a share. Returns nil for fewer than `fewestPairs`, which cannot reach `alpha`.
    public func effect(sigma: Double, pairs: Int) -> Double? {
        pairs >= fewestPairs ? reach * sigma / (Self.efficiency * Double(pairs)).squareRoot() : nil
    }

    /// Returns the number of pairs that detect `effect`, at least `fewestPairs`. Returns nil if no number below 10⁹
    /// does, `effect` is not above 0, or `sigma` is not finite.
    public func pairs(sigma: Double, effect: Double) -> Int? {
        guard effect > 0, sigma.isFinite else { return nil }
        let needed = pow(reach * sigma / effect, 2) / Self.efficiency
        guard needed < 1e9 else { return nil }
        return max(fewestPairs, Int(needed.rounded(.up)))
    }

    /// Minimum number of pairs: fewer cannot reach `alpha` even if all differences have the same sign.
    public var fewestPairs: Int { Int((-log2(alpha)).rounded(.up)) }

    private var reach: Double { Normal.quantile(1 - alpha) + Normal.quantile(1 - beta) }
}
