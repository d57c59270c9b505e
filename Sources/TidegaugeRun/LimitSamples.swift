// Tests a limit on a percentile by the number of samples beyond it. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

extension Limit {
    /// Share of samples that may lie on the wrong side of the bound: 0.01 for `p99 < 5 ms`. Nil without a percentile,
    /// and for `==`.
    var allowedShare: Double? {
        guard let denominator = Statistic(rawValue: statistic)?.tailDenominator else { return nil }
        return switch comparison {
        case .less, .lessOrEqual: 1 / Double(denominator)
        case .greater, .greaterOrEqual: 1 - 1 / Double(denominator)
        case .equal: nil
        }
    }

    var isUpper: Bool { comparison == .less || comparison == .lessOrEqual }
}

/// Number of samples of the judged trials, and of those beyond a limit.
struct LimitSamples {
    let counts: SamplesBeyond
    let isBroken: Bool

    /// Returns nil if the limit has no `allowedShare`, or if a trial has neither valid samples nor, for an upper limit,
    /// a minimum beyond the bound.
    /// - Parameters:
    ///   - entries: figures of the judged trials.
    ///   - isBeyond: whether a sample is certainly on the wrong side.
    init?(_ limit: Limit, _ entries: [LimitCheck.Entry], isBeyond: (Double) -> Bool) {
        guard let share = limit.allowedShare else { return nil }
        var counts = SamplesBeyond(samples: 0, beyond: 0, stalls: 0)
        for entry in entries {
            if let record = entry.samples, let own = Self.counts(record, countsStalls: limit.isUpper, isBeyond) {
                counts = counts + own
            } else if limit.isUpper, let lowest = entry.lowest, isBeyond(lowest) {
                let all = entry.figure.n
                counts = counts + SamplesBeyond(samples: all, beyond: all, stalls: all)
            } else {
                return nil
            }
        }
        self.counts = counts
        // For a store that falls behind, all samples belong to one stall without an end.
        let fallsBehind = entries.contains { $0.figure.flags.contains(.notSteady) }
        isBroken = QuantileRule.isBroken(counts, tail: share, countsStallsOnce: !fallsBehind)
    }

    private static func counts(
        _ record: HistogramRecord, countsStalls: Bool, _ isBeyond: (Double) -> Bool
    ) -> SamplesBeyond? {
        var (samples, slowest, joined) = (ValueDistribution(), ValueDistribution(), ValueDistribution())
        do throws(HistogramCode.Damage) {
            try samples.add(samples: record.samples, negated: record.negated)
            if let text = record.slowest { try slowest.add(samples: text) }
            if let text = record.joined { try joined.add(samples: text) }
        } catch {
            return nil
        }
        func beyond(_ distribution: ValueDistribution) -> Int { distribution.count { isBeyond(Double($0)) } }
        let all = beyond(samples)
        // With a lower limit, the samples beyond it are fast ones, which form no stalls.
        let stalls = countsStalls && slowest.total > 0 ? max(1, beyond(slowest) - beyond(joined)) : all
        return SamplesBeyond(samples: Int(clamping: samples.total), beyond: all, stalls: min(stalls, all))
    }

    /// Text such as `109 of 109 samples are beyond it`, with the number of stalls if it is lower.
    var text: String {
        let shared =
            counts.stalls < counts.beyond ? " (\(Humanised.count(counts.stalls, "stall")))" : ""
        return
            "\(Humanised.grouped(counts.beyond)) of \(Humanised.grouped(counts.samples)) samples are beyond it\(shared)"
    }
}
