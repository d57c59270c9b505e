// Limits of which can be said before anything runs that there will be too few samples to judge them: a percentile wants ten
// beyond it, and an open load says how many commits there will be. A closed loop does not, and nothing is said of it. Pure.

extension Scenario {
    /// What no trial of a profile will have the samples for, a line for each such limit with the remedy, in file order. Empty
    /// in the smoke profile, which judges nothing.
    public func limitsWithoutSamples(in profile: Profile) -> [ScenarioProblem] {
        guard profile != .smoke, let points = try? settings(profile, [:]) else { return [] }
        return limits.compactMap { limit in
            guard case .distribution(let samples) = limit.metric.entry.shape, let place = conditionPlaces[limit],
                let needed = Statistic(rawValue: limit.statistic)?.neededSamples
            else { return nil }
            let counts = points.filter { limit.applies(to: $0.variant) }.compactMap { point in
                atMost(samples, at: point.settings).map { (point: point, count: $0) }
            }
            guard let fewest = counts.min(by: { $0.count < $1.count }), fewest.count < Double(needed) else {
                return nil
            }
            let variant = fewest.point.variant.isEmpty ? "" : " at \(fewest.point.variant)"
            let count = Humanised.grouped(Int(fewest.count.rounded()))
            return ScenarioProblem(
                place,
                "'\(limit.metric.rawValue).\(limit.statistic)' cannot be judged in the profile '\(profile.rawValue)'"
                    + "\(variant): \(samples == .deliveries ? "at most" : "about") \(count) samples a trial, and "
                    + "\(limit.statistic) needs \(Humanised.grouped(Int(needed))): "
                    + remedy(samples, fewest.point.settings, times: Double(needed) / fewest.count))
        }
    }

    /// How many samples a trial has, or more than it can have; nil where that is not known beforehand.
    private func atMost(_ samples: MetricEntry.Samples, at settings: Settings) -> Double? {
        let observers = settings.observers.count
        return switch samples {
        case .commits: commits(settings)
        // Where nobody watches there is no figure, and nothing to be judged.
        case .deliveries: observers > 0 ? commits(settings).map { $0 * Double(observers) } : nil
        case .observers: observers > 0 ? Double(observers) : nil
        case .others: nil
        }
    }

    /// Commits that are due in the measured window.
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

    /// A day: what a duration may be.
    private static let longestNs = 86_400e9
}
