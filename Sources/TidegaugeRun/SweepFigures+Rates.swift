// Rates that a store carries: the bracket between the highest sustained and the lowest unsustained rate, and the rate
// above which it coalesces notifications. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

extension KnownTrial {
    /// Whether a trial kept up with its rate: it began nearly all commits within the window, neither lag nor staleness
    /// grew noticeably, and nothing failed. Nil if a figure that decides this is missing.
    var isSustained: Bool? {
        guard record.fate == .completed else { return false }
        guard let started = value(.scheduleStarted) else { return nil }
        if started < Self.leastStarted { return false }
        guard let lag = value(.versionLag, .slope), let age = value(.staleness, .slope) else { return nil }
        return lag <= Self.mostLagGrowth * spec.writers.rateHz && age <= Self.mostAgeGrowthNs
    }

    private static let leastStarted = 0.99
    /// Highest growth of the lag in versions per second, per commit per second.
    private static let mostLagGrowth = 0.001
    /// Highest growth of the staleness in ns per second.
    private static let mostAgeGrowthNs = 1e6
}

/// The sustained and unsustained rates of one family of points.
struct RateBracket: Equatable {
    /// The highest sustained rate below all unsustained ones.
    var low: Double?
    /// The lowest rate that was not sustained.
    var high: Double?
    /// False if a rate above `high` was sustained.
    var isMonotone = true

    /// - Parameter points: rates in ascending order, and whether most of their trials were sustained.
    init(_ points: [(rateHz: Double, isSustained: Bool)]) {
        high = points.first { !$0.isSustained }?.rateHz
        low = points.prefix { $0.isSustained }.last?.rateHz
        isMonotone = !points.drop { $0.isSustained }.contains { $0.isSustained }
    }

    init(_ trials: [SweepFigures.Point]) {
        let byRate = Dictionary(grouping: trials, by: \.spec.writers.rateHz).sorted { $0.key < $1.key }
        self.init(
            byRate.compactMap { rate, trials in
                let said = trials.compactMap(\.isSustained)
                return said.isEmpty ? nil : (rate, 2 * said.count { $0 } > said.count)
            })
    }

    /// Next rate to try: the geometric mean of the bracket, or twice or half of its only end. Nil if the bracket is
    /// narrow enough or empty.
    var next: Double? {
        switch (low, high) {
        case (let low?, let high?): high / low > Self.fineEnough ? (low * high).squareRoot() : nil
        case (let low?, nil): low * 2
        case (nil, let high?): high / 2
        case (nil, nil): nil
        }
    }

    /// Ratio that ends the search. Trials of seconds cannot resolve less than 5 %.
    private static let fineEnough = 1.05
}

extension SweepFigures {
    /// Returns the ends of the bracket as `low` and `high`. An end that the sweep does not reach has no value.
    func sustainableRate(_ x: [Double], _ points: [[Point]], _ flags: [FigureFlag]) -> [Figure] {
        let bracket = RateBracket(points.flatMap { $0 })
        var flags = flags + (bracket.isMonotone ? [] : [.notMonotone])
        let there = points.first { $0.first?.spec.writers.rateHz == bracket.low } ?? []
        if let ratio = median(there.compactMap { $0.value(.coalescingRatio) }) {
            flags.append(.coalescing((ratio * 100).rounded() / 100))
        }
        return [
            Figure(.sustainableRate, .low, bracket.low, n: points.count, flags: flags),
            Figure(.sustainableRate, .high, bracket.high, n: points.count, flags: flags),
        ]
    }

    func kneeRate(_ x: [Double], _ points: [[Point]], _ flags: [FigureFlag]) -> [Figure] {
        let (x, y) = Self.medians(x, points) { $0.value(.coalescingRatio) }
        let fit = SegmentedFit.fit(x: x, y: y)
        return [Figure(.kneeRate, .value, fit?.knee, n: x.count, flags: flags + (fit == nil ? [.noKnee] : []))]
    }
}
