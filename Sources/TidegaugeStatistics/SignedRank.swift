// The exact signed-rank test of whether paired differences are above 0, and its interval. It assumes independent
// differences that are symmetric under the null hypothesis. F. Wilcoxon 1945. Zeros are ranked but do not count (J. W.
// Pratt, JASA 1959); ties share a rank. Pure.
import Glibc

/// Result of a one-sided test that differences are above zero.
public struct SignedRank: Sendable, Equatable {
    /// Twice the sum of the ranks of positive differences, an integer even with shared ranks.
    public var doubledRankSum: Int
    /// Number of differences other than zero.
    public var nonZeroCount: Int
    /// Probability of a rank sum at least as large with random signs. 1 if all differences are zero.
    public var pValue: Double

    /// O(n³) for n differences.
    public static func test(above zero: Double = 0, _ differences: [Double]) -> SignedRank {
        let shifted = differences.map { $0 - zero }
        let ranks = doubledRanks(shifted)
        let voting = zip(shifted, ranks).filter { $0.0 != 0 }
        let sum = voting.reduce(0) { $0 + ($1.0 > 0 ? $1.1 : 0) }
        let tail = voting.isEmpty ? 1 : upperTail(of: voting.map(\.1), from: sum)
        return SignedRank(doubledRankSum: sum, nonZeroCount: voting.count, pValue: tail)
    }

    /// Returns the smallest possible p of `pairs` differences, all of them positive.
    public static func smallestP(pairs: Int) -> Double { pow(0.5, Double(pairs)) }

    /// Returns twice the rank of each |value|, with the mean rank for ties. Zeros are ranked too.
    static func doubledRanks(_ values: [Double]) -> [Int] {
        precondition(!values.contains(where: \.isNaN), "a difference that is not a number has no rank")
        let order = values.indices.sorted { abs(values[$0]) < abs(values[$1]) }
        var ranks = Array(repeating: 0, count: values.count)
        var start = 0
        while start < order.count {
            var end = start
            while end + 1 < order.count, abs(values[order[end + 1]]) == abs(values[order[start]]) { end += 1 }
            // Ranks start + 1 … end + 1; twice their mean.
            for place in start...end { ranks[order[place]] = start + end + 2 }
            start = end + 1
        }
        return ranks
    }

    /// P(sum ≥ `least`) if each of `ranks` is included with probability ½.
    static func upperTail(of ranks: [Int], from least: Int) -> Double {
        distribution(of: ranks).dropFirst(max(0, least)).reduce(0, +)
    }

    /// P(sum = s) for s from 0 to the sum of all ranks.
    static func distribution(of ranks: [Int]) -> [Double] {
        var chances = [1.0]
        for rank in ranks {
            var next = chances.map { $0 / 2 } + Array(repeating: 0, count: rank)
            for sum in chances.indices { next[sum + rank] += chances[sum] / 2 }
            chances = next
        }
        return chances
    }
}

/// Confidence interval.
public struct LocationInterval: Sendable, Equatable {
    public var low: Double
    public var high: Double

    /// Returns an interval that contains the location of paired differences with at least `confidence`, `nil` for too
    /// few values: Walsh averages at exact signed-rank quantiles.
    public static func twoSided(_ values: [Double], confidence: Double) -> LocationInterval? {
        let tail = (1 - confidence) / 2
        guard let place = place(values.count, tail: tail) else { return nil }
        let averages = HodgesLehmann.walshAverages(values).sorted()
        return LocationInterval(low: averages[place], high: averages[averages.count - 1 - place])
    }

    /// Returns an upper bound of the location with at least `confidence`, `nil` for too few values.
    public static func upperBound(_ values: [Double], confidence: Double) -> Double? {
        twoSided(values, confidence: 2 * confidence - 1)?.high
    }

    /// Returns how many sorted averages lie outside on each side: the largest c with P(rank sum ≤ c) ≤ `tail`.
    private static func place(_ count: Int, tail: Double) -> Int? {
        guard count > 0 else { return nil }
        let chances = SignedRank.distribution(of: Array(1...count))
        var below = 0.0
        var outside = -1
        while outside + 1 < chances.count, below + chances[outside + 1] <= tail * (1 + 1e-12) {
            outside += 1
            below += chances[outside]
        }
        return outside < 0 ? nil : outside
    }
}
