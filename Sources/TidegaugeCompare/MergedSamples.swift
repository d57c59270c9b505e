// Merged samples of many trials per side: for tails, and for shifts by quantile. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

public enum MergedSamples {
    /// Returns the merged samples of a metric at one point, or nil without pairs or if a trial lacks them.
    public static func quantiles(_ metric: String, _ pairs: [PairRecord], _ point: Int) -> MergedQuantiles? {
        let base = pairs.compactMap { counts(metric, $0.points[point].base) }
        let head = pairs.compactMap { counts(metric, $0.points[point].head) }
        guard base.count == pairs.count, head.count == pairs.count, !pairs.isEmpty else { return nil }
        return MergedQuantiles(base: base, head: head)
    }

    private static func counts(_ metric: String, _ trial: SideTrial) -> SampleCounts? {
        guard let samples = trial.samples.first(where: { $0.metric.rawValue == metric }) else { return nil }
        var distribution = ValueDistribution()
        guard (try? distribution.add(samples: samples.samples, negated: samples.negated)) != nil else { return nil }
        var before: UInt64 = 0
        return distribution.cumulative().map { value, seen in
            defer { before = seen }
            return (Double(value), Int(seen - before))
        }
    }

    /// Returns the change of each decile, of p95 and of p99 with its interval, which shows the part of the
    /// distribution that moved (K. Doksum, Ann. Statist. 1974; G. Rousselet et al., Eur. J. Neurosci. 2017).
    public static func shift(
        _ metric: String, _ pairs: [PairRecord], _ point: Int, seed: UInt64, resamples: Int = 2_000
    ) -> [(share: Double, change: ComparedRow.Interval)] {
        guard let quantiles = quantiles(metric, pairs, point) else { return [] }
        var random = SplitMix64(seed: seed)
        let criterion = Criterion(metric: metric, statistic: "p50")
        return ([1, 2, 3, 4, 5, 6, 7, 8, 9].map { $0 / 10 } + [0.95, 0.99]).compactMap { share in
            quantiles.logRatio(at: share, resamples: resamples, using: &random).map { (share, criterion.interval($0)) }
        }
    }
}
