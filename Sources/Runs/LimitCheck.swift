// A scenario's limits against its figures: one judgement per limit, driver and sweep point that was measured. Pure.
import Measure
import Scenario
import Statistics
import Trials

struct LimitCheck {
    struct Entry {
        var driver: String
        var variant: String
        var figure: Figure
        /// What disturbed the trial, as its flag says; nil: nothing that counts.
        var noise: String?
    }

    let scenario: String
    let limits: [Limit]
    let entries: [Entry]
    /// Of the limits that are multiples of one.
    var yardsticks: [Yardstick: YardstickReading] = [:]

    func judgements() -> [Judgement] {
        limits.flatMap { limit in
            let meant = entries.filter {
                $0.figure.metric == limit.metric && $0.figure.statistic.rawValue == limit.statistic
                    && limit.applies(to: $0.variant)
            }
            // A figure over the sweep comes once per family, with the family among its flags.
            return Dictionary(grouping: meant) { entry in
                let family = entry.figure.flags.filter { $0.word == .at && limit.metric.isOverSweep }
                return ([entry.driver, entry.variant] + family.map(\.text)).filter { !$0.isEmpty }.joined(
                    separator: " ")
            }
            .sorted { $0.key < $1.key }
            .map { place, entries in judge(limit, entries, place) }
        }
    }

    /// Counts must hold in every trial; of a measured quantity the median over trials is judged, as it is reported.
    private func judge(_ limit: Limit, _ entries: [Entry], _ place: String) -> Judgement {
        let driver = entries[0].driver
        // What was counted was counted on a noisy machine too. Clocks of disturbed trials say something only where there are no
        // others, and then nothing against the store.
        let quiet = entries.filter { $0.noise == nil }
        let isCounted = limit.metric.entry.kind.isCounted
        let isDisturbed = !isCounted && quiet.isEmpty
        let figures = (isCounted || quiet.isEmpty ? entries : quiet).map(\.figure)
        let values = figures.compactMap(\.value)
        let judged: [Double]
        if limit.metric.entry.kind == .event {
            judged = values.count == figures.count ? values : []
        } else {
            judged = median(values).map { [$0] } ?? []
        }
        let reading = limit.yardstick.flatMap { yardsticks[$0] }
        let yardstickNs = reading?.meanNs ?? 1
        func isKept(_ value: Double) -> Bool { limit.holds(for: value, yardstickNs: yardstickNs) }
        if let yardstick = limit.yardstick, reading?.isSteady != true {
            let why =
                reading.map { "took \(Int($0.beforeNs)) ns before and \(Int($0.afterNs)) ns after" } ?? "was not taken"
            return Judgement(
                scenario: scenario, driver: driver, verdict: .unknown,
                text: "\(place): \(limit): the yardstick \(yardstick.rawValue) \(why)")
        }
        guard let worst = judged.first(where: { !isKept($0) }) ?? judged.first else {
            return Judgement(
                scenario: scenario, driver: driver, verdict: .unknown, text: "\(place): \(limit): no value")
        }
        let shown = worst == worst.rounded() ? "\(Int64(worst))" : "\(worst)"
        let holds = isKept(worst)
        let isDoubtful = !holds && isDisturbed
        let measure = limit.yardstick == nil ? "" : " (one is \(Int(yardstickNs)) ns)"
        let reasons = Set(entries.compactMap(\.noise)).sorted().joined(separator: ", ")
        return Judgement(
            scenario: scenario, driver: driver, verdict: holds ? .kept : isDoubtful ? .unknown : .broken,
            text: "\(place): \(limit): \(shown)\(measure)" + (isDoubtful ? " (noisy machine: \(reasons))" : ""))
    }
}
