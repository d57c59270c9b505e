// Quantiles of the merged samples of many trials, with confidence intervals. One trial has too few samples of a tail.
// Samples of one trial are dependent, so whole pairs of trials are resampled (cluster bootstrap: A. C. Davison, D. V.
// Hinkley, "Bootstrap Methods", 1997, §3.8). Pure apart from the given generator.
import Glibc
import StillingWellBasis

/// Samples of one trial: distinct values in ascending order with their counts.
public typealias SampleCounts = [(value: Double, count: Int)]

/// The merged samples of both sides of some pairs.
public struct MergedQuantiles: Sendable {
    /// One side: per pair, the number of samples at or below each of the values.
    private struct Side: Sendable {
        var values: [Double]
        var cumulative: [[Int]]

        init(_ trials: [SampleCounts]) {
            let values = Set(trials.joined().map(\.value)).sorted()
            let places = Dictionary(uniqueKeysWithValues: values.enumerated().map { ($1, $0) })
            self.values = values
            cumulative = trials.map { samples in
                var counts = Array(repeating: 0, count: values.count)
                for sample in samples { counts[places[sample.value]!] += sample.count }
                var seen = 0
                return counts.map { count in
                    seen += count
                    return seen
                }
            }
        }

        /// Returns the smallest value with at least the share `p` of the samples of `pairs` at or below it.
        func quantile(_ p: Double, of pairs: [Int]) -> Double? {
            func seen(_ place: Int) -> Int { pairs.reduce(0) { $0 + cumulative[$1][place] } }
            guard !values.isEmpty else { return nil }
            let total = seen(values.count - 1)
            guard total > 0 else { return nil }
            let rank = max(1, Int((p * Double(total)).rounded(.up)))
            return values[values.indices.dropLast().partitioningIndex { seen($0) >= rank }]
        }
    }

    private let base: Side
    private let head: Side
    private let pairCount: Int

    /// - Parameters: samples of each pair, in the same order.
    public init(base: [SampleCounts], head: [SampleCounts]) {
        precondition(base.count == head.count, "every pair has two sides")
        (self.base, self.head, pairCount) = (Side(base), Side(head), base.count)
    }

    /// Returns ln(head / base) at the quantile `p`, with the percentile interval of `resamples` draws of pairs.
    /// Returns nil without samples, or if a quantile is not above 0.
    public func logRatio(
        at p: Double, confidence: Double = 0.95, resamples: Int = 10_000, using random: inout some RandomNumberGenerator
    ) -> (estimate: Double, interval: LocationInterval)? {
        guard let estimate = logRatio(p, Array(0..<pairCount)) else { return nil }
        var draws: [Double] = []
        draws.reserveCapacity(resamples)
        var pairs = Array(repeating: 0, count: pairCount)
        for _ in 0..<resamples {
            for place in pairs.indices { pairs[place] = Int.random(in: 0..<pairCount, using: &random) }
            if let ratio = logRatio(p, pairs) { draws.append(ratio) }
        }
        guard !draws.isEmpty else { return nil }
        draws.sort()
        let outside = Int((Double(draws.count) * (1 - confidence) / 2).rounded(.down))
        return (estimate, LocationInterval(low: draws[outside], high: draws[draws.count - 1 - outside]))
    }

    private func logRatio(_ p: Double, _ pairs: [Int]) -> Double? {
        guard let base = base.quantile(p, of: pairs), let head = head.quantile(p, of: pairs), base > 0, head > 0
        else { return nil }
        return log(head / base)
    }
}
