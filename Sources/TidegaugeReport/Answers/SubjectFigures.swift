// Figures of the main engine of a run, found by metric. It is the first driver named by `--driver` that ran, unless
// that driver does nothing. Otherwise it is the driver with the most trials, and the first of those in case of a tie.
// Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

struct SubjectFigures {
    let record: RunRecord
    /// Empty if no trial ran.
    let driver: String
    private let rows: [RunRow]

    init(_ record: RunRecord) {
        self.record = record
        let subject = Self.subject(record)
        driver = subject
        rows = record.rows.filter { $0.driver == subject && $0.figure.value?.isFinite ?? false }
    }

    private static func subject(_ record: RunRecord) -> String {
        let drivers = record.trials.map(\.spec.driver)
        // Named drivers are compared with the first of them.
        if let named = record.header.driverNames.first(where: drivers.contains), !record.header.isEmpty(named) {
            return named
        }
        let counts = Dictionary(grouping: drivers) { $0 }.mapValues(\.count)
        let most = counts.values.max()
        return drivers.first { counts[$0] == most } ?? ""
    }

    /// Figures of all trials at one point of a sweep.
    struct Place {
        var scenario: String
        var variant: String
        var figures: [Figure]

        var median: Double { TidegaugeStatistics.median(figures.compactMap(\.value)) ?? .nan }
    }

    /// Returns the points of the best scenario for a metric: the first that answers the question, else the first that is
    /// gated by the metric, else the first. Scenarios about the harness are left out. Empty if none measured it.
    func places(_ metric: Metric, _ statistic: Statistic, for question: SummaryQuestion) -> [Place] {
        let meant = rows.filter { row in
            row.figure.metric == metric && row.figure.statistic == statistic
                && record.scenario(row.scenario)?.gate.entry.subject != .harness
        }
        let scenarios = Digest.inOrder(meant.map(\.scenario))
        guard
            let scenario = scenarios.first(where: { record.scenario($0)?.answers?.contains(question) == true })
                ?? scenarios.first(where: { record.scenario($0)?.gate == metric }) ?? scenarios.first
        else { return [] }
        return places(meant.filter { $0.scenario == scenario }, scenario)
    }

    /// Returns the points of one scenario.
    func places(_ metric: Metric, _ statistic: Statistic, of scenario: String) -> [Place] {
        places(
            rows.filter {
                $0.scenario == scenario && $0.figure.metric == metric && $0.figure.statistic == statistic
            }, scenario)
    }

    private func places(_ rows: [RunRow], _ scenario: String) -> [Place] {
        Digest.inOrder(rows.map(\.variant)).map { variant in
            Place(
                scenario: scenario, variant: variant, figures: rows.filter { $0.variant == variant }.map(\.figure))
        }
    }

    /// Returns the reason why a figure has no value, although its metric may have been measured.
    func absence(of metric: Metric, _ statistic: Statistic) -> String {
        let name = metric.rawValue
        let own = record.trials.filter {
            $0.spec.driver == driver && $0.spec.measure.contains(name)
                && record.scenario($0.spec.scenario)?.gate.entry.subject != .harness
        }
        guard !own.isEmpty else { return "no scenario measures \(name)" }
        let completed = own.filter { $0.fate == .completed }
        guard let one = completed.first else {
            return "\(Humanised.count(own.count, "trial")) that should have measured \(name) did not complete"
        }
        if one.spec.writers.load == .closed, metric == .endToEndLatency {
            return "\(one.spec.scenario) commits in a closed loop, which has no \(name): 'load: open' has due times"
        }
        if let workload = one.spec.workload, workload.lasting.isEmpty, metric.needsObservers {
            return
                "no query of the trace of \(one.spec.scenario) is observed from its first commit to its last, which "
                + "\(name) requires"
        }
        let rows = record.rows.filter {
            $0.driver == driver && $0.figure.metric == metric && $0.figure.statistic == statistic
        }
        guard let most = rows.max(by: { $0.figure.n < $1.figure.n }) else {
            return "\(one.spec.scenario) measured \(name), and found nothing to measure"
        }
        if let needed = statistic.neededSamples, UInt64(clamping: most.figure.n) < needed {
            return
                "\(name) had \(Humanised.count(most.figure.n, "sample")) in \(most.scenario), and \(statistic.rawValue) needs "
                + Humanised.grouped(Int(needed))
        }
        let flags = most.figure.flags.map(\.text).joined(separator: ", ")
        return "\(name) has no value in \(most.scenario)" + (flags.isEmpty ? "" : ": \(flags)")
    }

    func spec(_ place: Place) -> TrialSpec? {
        record.trials.lazy.map(\.spec).first {
            $0.scenario == place.scenario && $0.driver == driver && $0.variant == place.variant
        }
    }

    /// Tone of a scenario: bad if a limit is broken on the main engine or one of its trials failed.
    func tone(_ scenario: String) -> Answer.Tone {
        let isBroken = record.judgements.contains {
            $0.scenario == scenario && $0.driver == driver && $0.verdict == .broken
        }
        let isVoided = record.voided.contains { $0.spec.scenario == scenario && $0.spec.driver == driver }
        return isBroken || isVoided ? .bad : .good
    }
}
