// Checks a scenario's limits against its figures. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

struct LimitCheck {
    struct Entry {
        var driver: String
        var variant: String
        var figure: Figure
        /// Reason why a time or rate is uncertain, such as a disturbance of the trial; nil: none.
        var noise: String?
        /// Samples of the figure's distribution, if this run measured them.
        var samples: HistogramRecord?
        /// The smallest sample of that distribution.
        var lowest: Double?
    }

    let scenario: String
    let limits: [Limit]
    let entries: [Entry]
    /// Readings of the yardsticks that the limits use.
    var yardsticks: [Yardstick: YardstickReading] = [:]
    /// Completed trials.
    var trials: [TrialSpec] = []
    /// Drivers to which only limits on counters of an engine apply.
    var unjudged: Set<String> = []

    func judgements() -> [Judgement] {
        limits.flatMap { limit in
            let meant = entries.filter {
                $0.figure.metric == limit.metric && $0.figure.statistic.rawValue == limit.statistic
                    && limit.applies(to: $0.variant)
            }
            // A figure over the sweep exists once per family, which one of its flags names.
            let judged = Dictionary(grouping: meant) { entry in
                let family = entry.figure.flags.filter { $0.word == .at && limit.metric.isOverSweep }
                return ([entry.driver, entry.variant] + family.map(\.text)).filter { !$0.isEmpty }.joined(
                    separator: " ")
            }
            .sorted { $0.key < $1.key }
            .map { place, entries in judge(limit, entries, place) }
            return judged + withoutFigure(limit, except: Set(meant.map(\.driver)))
        }
    }

    /// Returns an unknown judgement for each driver that should have measured the limit's metric and has no figure of
    /// it.
    /// - Parameter drivers: drivers that have one.
    private func withoutFigure(_ limit: Limit, except drivers: Set<String>) -> [Judgement] {
        let metric = limit.metric
        switch metric.entry.source {
        // An interleaving test has one of its two times, and the reference has no ratio to itself.
        case .interleavingTest, .peers: return []
        case .trial, .companions, .sweep: break
        }
        // A trial that was not repeated reports no repetitions.
        guard metric != .voidedTrials else { return [] }
        let meant = trials.filter { trial in
            // A counter of an engine is missing only if no driver has it.
            let isMissing =
                metric.isOfEngine
                ? drivers.isEmpty : !drivers.contains(trial.driver) && !unjudged.contains(trial.driver)
            return isMissing && trial.metrics.contains(metric)
                && (metric.isOverSweep || limit.applies(to: trial.variant))
        }
        return Dictionary(grouping: meant, by: \.driver).sorted { $0.key < $1.key }.map { driver, trials in
            let reason = "no figure: \(Self.absence(of: metric, in: trials))"
            return Judgement(
                scenario: scenario, driver: driver, verdict: .unknown,
                text: "\(driver): \(limit.text(digits: 3)): \(reason)",
                held: .init(
                    limit, variant: metric.isOverSweep ? "*" : trials[0].variant, bound: nil, value: nil, reason: reason
                ))
        }
    }

    /// Returns why trials of one driver have no figure of a metric.
    private static func absence(of metric: Metric, in trials: [TrialSpec]) -> String {
        if metric.isOverSweep {
            let keys = metric.neededSweep.map { "'\($0.rawValue)'" }.joined(separator: " or ")
            return "it needs a sweep with two or more values of \(keys)"
        }
        if metric.needsObservers, trials.allSatisfy({ $0.observers.count == 0 }) { return "'observers.count' is 0" }
        switch metric.entry.shape {
        case .distribution(of: .commits), .distribution(of: .deliveries):
            if trials.allSatisfy({ $0.writers.load != .open }) {
                return "a load without a schedule has none (write 'load: open', or remove the limit)"
            }
        case .distribution, .number, .bracket: break
        }
        return "\(trials[0].driver) does not measure it"
    }

    /// Judges events in every trial, and the median over trials of other quantities.
    private func judge(_ limit: Limit, _ entries: [Entry], _ place: String) -> Judgement {
        let driver = entries[0].driver
        // Counts stay valid on a noisy machine. Times and rates of disturbed trials are used only if there are no
        // others, and then cannot break a limit.
        let quiet = entries.filter { $0.noise == nil }
        let isCounted = limit.metric.entry.kind.isCounted
        let isDisturbed = !isCounted && quiet.isEmpty
        let counting = isCounted || quiet.isEmpty ? entries : quiet
        let figures = counting.map(\.figure)
        let values = figures.compactMap(\.value)
        let judged: [Double]
        if limit.metric.entry.kind == .event {
            judged = values.count == figures.count ? values : []
        } else {
            judged = median(values).map { [$0] } ?? []
        }
        let reading = limit.yardstick.flatMap { yardsticks[$0] }
        func judgement(
            _ verdict: Judgement.Verdict, _ text: String, _ value: Double?, bound: Double?, because reason: String?
        ) -> Judgement {
            Judgement(
                scenario: scenario, driver: driver, verdict: verdict, text: "\(place): \(text)",
                held: .init(limit, variant: entries[0].variant, bound: bound, value: value, reason: reason))
        }
        if let yardstick = limit.yardstick, reading?.meanNs == nil {
            let reason = "the yardstick \(yardstick.rawValue) \(reading?.obstacle ?? "was not taken")"
            return judgement(.unknown, "\(limit): \(reason)", judged.first, bound: nil, because: reason)
        }
        let yardstickNs = reading?.meanNs ?? 1
        let bound = limit.boundInUnit(yardstickNs: yardstickNs)
        func isKept(_ value: Double) -> Bool { limit.holds(for: value, yardstickNs: yardstickNs) }
        // A time between two hosts is only known to ± the clocks' uncertainty.
        let uncertaintyNs = figures.lazy.flatMap(\.flags).compactMap(\.uncertaintyNs).max() ?? 0
        let samples = LimitSamples(limit, counting) { value in
            !isKept(value - uncertaintyNs) && !isKept(value + uncertaintyNs)
        }
        let reasons = Set(entries.compactMap(\.noise)).sorted().joined(separator: ", ")
        guard let worst = judged.first(where: { !isKept($0) }) ?? judged.first else {
            let flags = Set(figures.flatMap(\.flags).map(\.text)).sorted().joined(separator: ", ")
            let why = flags.isEmpty ? "too few samples" : flags
            let found = samples.map { "\($0.text) (no value: \(why))" } ?? "no value (\(why))"
            if samples?.isBroken ?? false, !isDisturbed {
                return judgement(.broken, "\(limit.text(digits: 3)): \(found)", nil, bound: bound, because: nil)
            }
            let reason = isDisturbed ? "\(found), noisy machine: \(reasons)" : found
            return judgement(.unknown, "\(limit.text(digits: 3)): \(reason)", nil, bound: bound, because: reason)
        }
        let holds = isKept(worst)
        if [worst - uncertaintyNs, worst + uncertaintyNs].contains(where: { isKept($0) != holds }) {
            let reason = "clocks of hosts known to ± \(Humanised.text(uncertaintyNs, unit: "ns"))"
            return judgement(.unknown, "\(Self.text(limit, worst)) (\(reason))", worst, bound: bound, because: reason)
        }
        if !holds, !isDisturbed, let samples, !samples.isBroken {
            let reason = "\(samples.text), which may be chance"
            return judgement(.unknown, "\(Self.text(limit, worst)) (\(reason))", worst, bound: bound, because: reason)
        }
        let bounds = figures.count { $0.flags.contains(.atLeast) }
        if holds, limit.isUpper, 2 * bounds >= figures.count, bounds > 0 {
            let reason = "at least that: \(figures.reduce(0) { $0 + $1.censored }) samples had not ended"
            return judgement(.unknown, "\(Self.text(limit, worst)) (\(reason))", worst, bound: bound, because: reason)
        }
        let isDoubtful = !holds && isDisturbed
        let one = limit.yardstick.map { " (one \($0.rawValue) is \(Humanised.text(yardstickNs, unit: "ns")))" } ?? ""
        let reason = isDoubtful ? "noisy machine: \(reasons)" : nil
        return judgement(
            holds ? .kept : isDoubtful ? .unknown : .broken,
            Self.text(limit, worst) + one + (reason.map { " (\($0))" } ?? ""), worst, bound: bound, because: reason)
    }

    /// Formats the limit and the figure with up to six digits to distinguish them.
    private static func text(_ limit: Limit, _ value: Double) -> String {
        func shown(_ value: Double, _ digits: Int) -> String {
            Humanised.text(value, unit: limit.unit.rawValue, digits: digits)
        }
        let bound = limit.bound
        let digits = (3...6).first { value == bound || shown(value, $0) != shown(bound, $0) } ?? 6
        return "\(limit.text(digits: digits)): \(shown(value, digits))"
    }
}
