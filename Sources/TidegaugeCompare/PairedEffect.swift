// What pairs say of one figure: where the effect lies, how sure that is, and what could have been seen. Pure.
import TidegaugeStatistics

/// Effects are logarithms, or differences where values have none; above zero is worse.
public struct PairedEffect: Sendable, Equatable, Codable {
    public var pairs: Int
    /// Hodges–Lehmann.
    public var estimate: Double
    /// Two-sided 95 %; nil with fewer than six pairs.
    public var low: Double?
    public var high: Double?
    /// The effect lies under this with 95 %, one-sided; nil with fewer than five pairs.
    public var upperBound: Double?
    /// Exact signed rank, one-sided.
    public var pWorse: Double
    public var pBetter: Double
    /// 1.4826 · MAD of the differences.
    public var sigma: Double
    /// The smallest effect that so many pairs show in four of five comparisons; nil where they are too few to show any.
    public var detectable: Double?

    /// `nil` where there is no pair.
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

    /// Chance of so large a difference in either direction.
    public var pEither: Double { min(1, 2 * min(pWorse, pBetter)) }

    /// Worse by more than `delta` as far as these pairs go: one binary in twenty would look so beside itself.
    func isSuspicious(_ delta: Double) -> Bool { pWorse < Screen.alpha && estimate > delta }

    /// Certainly less than `delta` worse.
    public func isUnder(_ delta: Double) -> Bool { upperBound.map { $0 < delta || $0 <= 0 } ?? false }

    /// The pairs after which this figure would be decided, more than there are; nil where no number does, or where there are
    /// too few to know how much they differ.
    public func pairsToDecide(_ delta: Double) -> Int? {
        guard pairs >= Self.fewestForNoise else { return nil }
        return DetectableEffect().pairs(sigma: sigma, effect: delta).map { max($0, pairs + 1) }
    }

    /// One differs from nothing, and of two the half of their difference is no measure of any.
    private static let fewestForNoise = 3
}

/// What is said of a figure.
public enum Verdict: String, Codable, Sendable, CaseIterable {
    case regressed, improved
    /// Moved, where neither way is better.
    case shifted
    /// Less than its threshold worse, as sure as 95 %.
    case unchanged
    /// A gate that is worse as far as its pairs go, and they do not carry it as far as a verdict must be carried.
    case suspected
    case inconclusive
    /// Only one side has the figure.
    case onlyBase = "only base"
    case onlyHead = "only head"
}
