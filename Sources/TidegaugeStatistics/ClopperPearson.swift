// Exact confidence bound for a share, from a number of hits. C. J. Clopper, E. S. Pearson, Biometrika 1934. Pure.
import Glibc

public enum ClopperPearson {
    /// Returns an upper bound of the share, valid with `confidence`.
    public static func upperBound(hits: Int, trials: Int, confidence: Double = 0.95) -> Double {
        precondition(0...trials ~= hits, "no more hits than trials")
        if hits == trials { return 1 }
        var (low, high) = (0.0, 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            // P(X ≤ hits) falls with the share.
            if atMost(hits, of: trials, share: middle) > 1 - confidence { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// P(X ≤ hits) of a binomial distribution, by logarithms of its terms.
    static func atMost(_ hits: Int, of trials: Int, share: Double) -> Double {
        if share <= 0 { return 1 }
        if share >= 1 { return hits >= trials ? 1 : 0 }
        var term = Double(trials) * log1p(-share)
        var sum = exp(term)
        for k in stride(from: 1, through: hits, by: 1) {
            term += log(Double(trials - k + 1) / Double(k)) + log(share) - log1p(-share)
            sum += exp(term)
        }
        return min(1, sum)
    }
}
