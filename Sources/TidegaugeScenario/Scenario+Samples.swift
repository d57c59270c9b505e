// Finds limits that cannot be judged for lack of samples: a percentile needs ten samples beyond it, and an open load
// has a known mean number of commits. In closed loops only distributions over observers are checked. Pure.
import Glibc
import TidegaugeSpec

extension Scenario {
    /// Returns limits without enough samples at a point of a profile, with remedies. Empty for the smoke profile, which
    /// judges no limits.
    public func limitsWithoutSamples(
        in profile: Profile, overrides: [String: String] = [:]
    ) -> [ScenarioProblem] {
        guard profile != .smoke, let points = try? settings(profile, overrides) else { return [] }
        return limits.compactMap { limit in
            guard let (samples, needed, place) = wants(limit) else { return nil }
            let counts = points.filter { limit.applies(to: $0.variant) }.compactMap { point in
                expected(samples, at: point.settings).map { (point: point, count: $0) }
            }
            guard let fewest = counts.min(by: { $0.count < $1.count }), fewest.count < Double(needed) else {
                return nil
            }
            let variant = fewest.point.variant.isEmpty ? "" : " at \(fewest.point.variant)"
            return ScenarioProblem(
                place,
                "'\(limit.metric.rawValue).\(limit.statistic)' cannot be judged in the profile '\(profile.rawValue)'"
                    + "\(variant): \(shortage(limit, fewest.count, needed, samples, fewest.point.settings))")
        }
    }

    /// Reports limits with too few samples at every point of both profiles that judge limits.
    func checkSamples(into problems: inout ProblemList) {
        guard !limits.isEmpty, let points = try? settings(.ci, [:]) + settings(.full, [:]) else { return }
        for limit in limits where !problems.isFull {
            guard let (samples, needed, place) = wants(limit) else { continue }
            let meant = points.filter { limit.applies(to: $0.variant) }.map(\.settings)
            let counts = meant.compactMap { settings in
                most(samples, at: settings).map { (settings: settings, count: $0) }
            }
            guard counts.count == meant.count, let best = counts.max(by: { $0.count < $1.count }),
                best.count < Double(needed)
            else { continue }
            problems.add(
                place,
                "'\(limit.metric.rawValue).\(limit.statistic)' can be judged neither in the profile 'ci' nor in 'full': "
                    + shortage(
                        limit, expected(samples, at: best.settings) ?? best.count, needed, samples, best.settings))
        }
    }

    /// Returns kind and number of samples that a limit on a percentile needs, and its position. Nil for other limits.
    private func wants(_ limit: Limit) -> (samples: MetricEntry.Samples, needed: UInt64, place: ScenarioProblem.Place)?
    {
        guard case .distribution(let samples) = limit.metric.entry.shape, let place = conditionPlaces[limit],
            let needed = Statistic(rawValue: limit.statistic)?.neededSamples
        else { return nil }
        return (samples, needed, place)
    }

    private func shortage(
        _ limit: Limit, _ count: Double, _ needed: UInt64, _ samples: MetricEntry.Samples, _ settings: Settings
    ) -> String {
        "about \(Humanised.count(max(1, Int(count.rounded())), "sample")) a trial, and \(limit.statistic) needs "
            + "\(Humanised.grouped(Int(needed))): \(remedy(samples, settings, times: Double(needed) / count))"
    }

    /// Returns the mean number of samples of a trial, or nil if unknown.
    func expected(_ samples: MetricEntry.Samples, at settings: Settings) -> Double? {
        let observers = settings.observers.count
        return switch samples {
        case .commits: commits(settings)
        // Without observers there is no figure to judge.
        case .deliveries:
            observers > 0 ? commits(settings).map { $0 * Double(observers) * concerningShare(settings) } : nil
        case .observers: observers > 0 ? Double(observers) : nil
        case .others: nil
        }
    }

    /// Returns a number of samples that a trial hardly exceeds, or nil if unknown: every commit affects every
    /// observer, and random arrivals are five standard deviations above their mean.
    private func most(_ samples: MetricEntry.Samples, at settings: Settings) -> Double? {
        guard samples == .commits || samples == .deliveries else { return expected(samples, at: settings) }
        let observers = samples == .commits ? 1 : settings.observers.count
        guard observers > 0, let commits = commits(settings) else { return nil }
        let isDrawn = settings.writers.arrivals != .uniform && settings.writers.arrivals != .trace
        let spread = isDrawn ? 5 * commits.squareRoot() * Double(settings.writers.burst) : 0
        return Double(observers) * (commits.rounded(.up) + spread + Double(settings.writers.count))
    }

    /// Expected share of the commits that affect an observer; 1 for keys other than `uniform`, for traces and lists.
    private func concerningShare(_ settings: Settings) -> Double {
        let (observers, writers) = (settings.observers, settings.writers)
        guard writers.keys == .uniform, writers.arrivals != .trace, observers.sort != .list else { return 1 }
        let match = observers.queries == .ranges ? observers.match / Double(observers.count) : observers.match
        let weights = writers.changes.values.reduce(0, +)
        let share = writers.changes.reduce(0.0) { sum, change in
            let own: Double =
                switch WritersSpec.ChangeKind(rawValue: change.key) {
                // The row is in the query before or after the change.
                case .updateScore: 1 - (1 - match) * (1 - match)
                case .move: 1
                case .touch, .insert, .delete, nil: match
                }
            return sum + own * change.value / weights
        }
        return 1 - pow(1 - share, Double(writers.rowsPerCommit))
    }

    /// Mean number of commits due in the measured window; nil without a schedule.
    private func commits(_ settings: Settings) -> Double? {
        guard settings.writers.load == .open else { return nil }
        let spec = settings.point.spec
        guard settings.writers.arrivals == .trace else { return spec.writers.rateHz * Double(spec.durationNs) / 1e9 }
        let windowNs = spec.warmUpNs..<spec.warmUpNs + spec.durationNs
        return Double((traces[settings.point.traceFile]?.dueNs ?? []).count { windowNs.contains($0) })
    }

    private func remedy(_ samples: MetricEntry.Samples, _ settings: Settings, times factor: Double) -> String {
        if samples == .observers {
            let needed = Int((Double(settings.observers.count) * factor).rounded(.up))
            return "observers.count ≥ \(Humanised.grouped(needed))"
        }
        if settings.writers.arrivals == .trace { return "a trace with more commits in the window" }
        let neededNs = Double(settings.point.spec.durationNs) * factor
        guard neededNs < Self.longestNs else { return "a higher writers.rate" }
        let unitNs = neededNs < 1e9 ? 1e6 : 1e9
        return "duration ≥ \(Quantity.text(durationNs: Int64((neededNs / unitNs).rounded(.up) * unitNs)))"
    }

    /// The maximum of `duration`: one day.
    private static let longestNs = 86_400e9
}
