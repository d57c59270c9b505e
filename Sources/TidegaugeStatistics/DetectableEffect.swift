// What a number of pairs can see, and how many it takes to see something: the normal approximation of the signed-rank test,
// whose efficiency is 3/π = 0.955 of the t-test's (Hodges & Lehmann 1956). Effects are logarithms of ratios. Pure.
import Glibc

public struct DetectableEffect: Sendable, Equatable {
    private static let efficiency = 0.955

    /// Chance of a false alarm, one-sided.
    public var alpha: Double
    /// Chance of missing the effect.
    public var beta: Double

    public init(alpha: Double = 0.01, beta: Double = 0.2) { (self.alpha, self.beta) = (alpha, beta) }

    /// The smallest effect that `pairs` differences of standard deviation `sigma` show: exp of it − 1 is a share. `nil` where
    /// no effect shows, however large: fewer than `fewestPairs` cannot reach `alpha`.
    public func effect(sigma: Double, pairs: Int) -> Double? {
        pairs >= fewestPairs ? reach * sigma / (Self.efficiency * Double(pairs)).squareRoot() : nil
    }

    /// The pairs that show `effect`, at least as many as any test at `alpha` needs. `nil` where no number does.
    public func pairs(sigma: Double, effect: Double) -> Int? {
        guard effect > 0, sigma.isFinite else { return nil }
        let needed = pow(reach * sigma / effect, 2) / Self.efficiency
        guard needed < 1e9 else { return nil }
        return max(fewestPairs, Int(needed.rounded(.up)))
    }

    /// Fewer cannot reach `alpha` even with all signs equal.
    public var fewestPairs: Int { Int((-log2(alpha)).rounded(.up)) }

    private var reach: Double { Normal.quantile(1 - alpha) + Normal.quantile(1 - beta) }
}
