// A limit on a percentile against the samples themselves, whose number says more than a percentile read off them. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

extension Limit {
    /// Share of samples that may lie on the wrong side of the bound: a hundredth of `p99 < 5 ms`. Nil if the limit is on no
    /// percentile.
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

/// Samples of the trials that a limit is judged by, and how many of them are on its wrong side.
struct LimitSamples {
    let counts: SamplesBeyond
    let isBroken: Bool

    /// Nil if the limit is on no percentile, or if a trial has neither samples nor a smallest one that is beyond the bound.
    /// - Parameters:
    ///   - entries: figures of the trials that count.
    ///   - isBeyond: whether a sample is on the wrong side for sure.
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
        // A store that falls behind is one stall that does not end.
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
        // Samples that are quicker than a limit allows share no stall.
        let stalls = countsStalls && slowest.total > 0 ? max(1, beyond(slowest) - beyond(joined)) : all
        return SamplesBeyond(samples: Int(clamping: samples.total), beyond: all, stalls: min(stalls, all))
    }

    /// `109 of 109 samples are beyond it`, with the stalls where they are fewer.
    var text: String {
        let shared =
            counts.stalls < counts.beyond ? " (\(Humanised.count(counts.stalls, "stall")))" : ""
        return
            "\(Humanised.grouped(counts.beyond)) of \(Humanised.grouped(counts.samples)) samples are beyond it\(shared)"
    }
}
