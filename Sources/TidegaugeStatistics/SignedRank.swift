// Are paired differences above zero? The exact signed-rank test, which asks only that they be symmetric under the null, and
// the interval that goes with it. F. Wilcoxon 1945; zeros keep their ranks and lose their votes (J. W. Pratt, JASA 1959);
// ties share a rank. Exact for every n: no table, no normal approximation. Pure.
import Glibc

/// The outcome of a one-sided test that differences lie above zero.
public struct SignedRank: Sendable, Equatable {
    /// Twice the sum of the ranks of positive differences: a whole number, also where ranks are shared.
    public var doubledRankSum: Int
    /// Differences that are not zero.
    public var nonZeroCount: Int
    /// Chance of a sum at least so large where each sign is a coin. 1 where there is no difference at all.
    public var pValue: Double

    /// O(n³) for n differences: 20 take microseconds, 200 some milliseconds.
    public static func test(above zero: Double = 0, _ differences: [Double]) -> SignedRank {
        let shifted = differences.map { $0 - zero }
        let ranks = doubledRanks(shifted)
        let voting = zip(shifted, ranks).filter { $0.0 != 0 }
        let sum = voting.reduce(0) { $0 + ($1.0 > 0 ? $1.1 : 0) }
        let tail = voting.isEmpty ? 1 : upperTail(of: voting.map(\.1), from: sum)
        return SignedRank(doubledRankSum: sum, nonZeroCount: voting.count, pValue: tail)
    }

    /// The smallest p that `pairs` differences can give: all of one sign.
    public static func smallestP(pairs: Int) -> Double { pow(0.5, Double(pairs)) }

    /// Twice each |value|'s rank among all, ties at their mean. Zeros are ranked too.
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

    /// P(sum ≥ `least`) where each of `ranks` counts with probability ½.
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

/// Where the location of paired differences lies: Walsh averages between exact quantiles of the signed-rank distribution.
public struct LocationInterval: Sendable, Equatable {
    public var low: Double
    public var high: Double

    /// Both ends together hold the location with at least `confidence`. `nil` with fewer values than that takes.
    /// O(n² log n).
    public static func twoSided(_ values: [Double], confidence: Double) -> LocationInterval? {
        let tail = (1 - confidence) / 2
        guard let place = place(values.count, tail: tail) else { return nil }
        let averages = HodgesLehmann.walshAverages(values).sorted()
        return LocationInterval(low: averages[place], high: averages[averages.count - 1 - place])
    }

    /// The location lies under this with at least `confidence`.
    public static func upperBound(_ values: [Double], confidence: Double) -> Double? {
        twoSided(values, confidence: 2 * confidence - 1)?.high
    }

    /// How many of the sorted averages lie outside on each side: the most c with P(rank sum ≤ c) ≤ `tail`.
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
