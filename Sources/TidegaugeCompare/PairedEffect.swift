// Effect on one figure over pairs: location, certainty and detectable size. Pure.
import TidegaugeStatistics

/// Effects are logarithms of ratios, or differences for values without logarithms. Above 0 is worse.
public struct PairedEffect: Sendable, Equatable, Codable {
    public var pairs: Int
    /// Hodges–Lehmann estimate.
    public var estimate: Double
    /// Two-sided 95 % interval; nil with fewer than six pairs.
    public var low: Double?
    public var high: Double?
    /// One-sided 95 % upper bound; nil with fewer than five pairs.
    public var upperBound: Double?
    /// One-sided p-values of the exact signed-rank test.
    public var pWorse: Double
    public var pBetter: Double
    /// 1.4826 · MAD (median absolute deviation) of the pairs' effects.
    public var sigma: Double
    /// Smallest effect that this number of pairs detects in 80 % of comparisons; nil if there are too few pairs.
    public var detectable: Double?

    /// Returns nil without pairs.
    public init?(_ worsening: [Double]) {
        guard let estimate = HodgesLehmann.location(worsening), let sigma = medianAbsoluteDeviation(worsening) else {
            return nil
        }
        (pairs, self.estimate, self.sigma) = (worsening.count, estimate, sigma)
        let interval = LocationInterval.twoSided(worsening, confidence: 0.95)
        (low, high) = (interval?.low, interval?.high)
        upperBound = LocationInterval.upperBound(worsening, confidence: 0.95)
        pWorse = SignedRank.test(worsening).pValue
        pBetter = SignedRank.test(worsening.map { -$0 }).pValue
        detectable = DetectableEffect().effect(sigma: sigma, pairs: worsening.count)
    }

    /// p-value of either direction.
    public var pEither: Double { min(1, 2 * min(pWorse, pBetter)) }

    /// Whether it looks worse by more than `delta` at α = 5 %.
    func isSuspicious(_ delta: Double) -> Bool { pWorse < Screen.alpha && estimate > delta }

    /// Whether it is less than `delta` worse, or not worse at all, at 95 % confidence.
    public func isUnder(_ delta: Double) -> Bool { upperBound.map { $0 < delta || $0 <= 0 } ?? false }

    /// Returns the number of pairs that would decide the figure, more than the current number. Nil if no number
    /// would, or if there are too few pairs to estimate the noise.
    public func pairsToDecide(_ delta: Double) -> Int? {
        guard pairs >= Self.fewestForNoise else { return nil }
        return DetectableEffect().pairs(sigma: sigma, effect: delta).map { max($0, pairs + 1) }
    }

    /// Minimum number of pairs to estimate the noise: two give no usable estimate.
    private static let fewestForNoise = 3
}

/// Verdict on a figure.
public enum Verdict: String, Codable, Sendable, CaseIterable {
    case regressed, improved
    /// Moved, with no better direction.
    case shifted
    /// At 95 % certainty less than its threshold worse.
    case unchanged
    /// A gate that looks worse, without enough evidence for `regressed`.
    case suspected
    case inconclusive
    /// Only the base has the figure; `onlyHead`: only the head.
    case onlyBase = "only base"
    case onlyHead = "only head"
}
