// Tests whether samples contradict a bound on a quantile. A percentile of few samples depends on each of them. The
// number of independent samples beyond the bound is binomial, whatever their distribution. Pure.
import Glibc

/// Number of samples, and of those beyond a bound on one of their quantiles.
public struct SamplesBeyond: Sendable, Equatable {
    public var samples: Int
    public var beyond: Int
    /// Number of stalls that the samples beyond the bound belong to. Overlapping samples share a stall.
    public var stalls: Int

    public init(samples: Int, beyond: Int, stalls: Int) {
        (self.samples, self.beyond, self.stalls) = (samples, beyond, stalls)
    }

    public static func + (one: SamplesBeyond, other: SamplesBeyond) -> SamplesBeyond {
        .init(
            samples: one.samples + other.samples, beyond: one.beyond + other.beyond, stalls: one.stalls + other.stalls)
    }

    /// The counts with each stall as one event, scaled to the effective number of independent samples. A sequence
    /// that enters and leaves stalls at random has the correlation r = 1 − c/k − c/(n − k) and the effective size
    /// n·(1 − r)/(1 + r) of a two-state chain.
    var independent: (samples: Int, beyond: Int) {
        guard stalls < beyond, beyond < samples else { return (samples, beyond) }
        let (n, k, c) = (Double(samples), Double(beyond), Double(stalls))
        let correlation = max(0, 1 - c / k - c / (n - k))
        let events = min(c, (k * (1 - correlation) / (1 + correlation)).rounded(.down))
        return (Int((n * events / k).rounded(.up)), Int(events))
    }
}

public enum QuantileRule {
    /// Highest probability of reporting a bound as broken if the quantile is exactly at it.
    public static let mostChance = 0.001
    /// `mostChance` with a margin for rounding errors.
    private static let mostComputed = mostChance * (1 + 1e-9)

    /// Returns whether the number of samples beyond a bound on the quantile 1 − `tail` shows that the quantile is
    /// beyond it.
    /// - Parameter countsStallsOnce: false for a store that falls behind, which is one stall without an end.
    public static func isBroken(_ counts: SamplesBeyond, tail: Double, countsStallsOnce: Bool = true) -> Bool {
        guard atLeast(counts.beyond, of: counts.samples, share: tail) <= mostComputed else { return false }
        guard countsStallsOnce else { return true }
        let (samples, beyond) = counts.independent
        return atLeast(beyond, of: samples, share: tail) <= mostComputed
    }

    /// P(X ≥ hits) of a binomial distribution: the sum of its terms from `hits` up.
    static func atLeast(_ hits: Int, of trials: Int, share: Double) -> Double {
        if hits <= 0 || share >= 1 { return 1 }
        if hits > trials || share <= 0 { return 0 }
        let (n, k) = (Double(trials), Double(hits))
        // Above the mean the terms decrease. Below it the sum is not small, so that 1 − the rest is accurate.
        if k <= n * share { return 1 - ClopperPearson.atMost(hits - 1, of: trials, share: share) }
        var term = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(share) + (n - k) * log1p(-share))
        var sum = 0.0
        for count in hits...trials where term > sum * 1e-17 {
            sum += term
            term *= Double(trials - count) / Double(count + 1) * share / (1 - share)
        }
        return min(1, sum)
    }
}
