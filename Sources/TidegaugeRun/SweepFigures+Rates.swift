// How many commits per second a store carries: the bracket between the highest rate it sustains and the lowest that it does
// not, and the rate from which on it merges notifications to keep up. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

extension KnownTrial {
    /// Whether a trial kept up with its rate: nearly all of the schedule was begun in time, neither the observers' lag nor
    /// its age grew, and nothing broke. nil where the trial was too short to say.
    var isSustained: Bool? {
        guard record.fate == .completed else { return false }
        guard let started = value(.scheduleStarted) else { return nil }
        if started < Self.leastStarted { return false }
        guard let lag = value(.versionLag, .slope), let age = value(.staleness, .slope) else { return nil }
        return lag <= Self.mostLagGrowth * spec.writers.rateHz && age <= Self.mostAgeGrowthNs
    }

    private static let leastStarted = 0.99
    /// Versions per second, per commit per second.
    private static let mostLagGrowth = 0.001
    /// In ns per second.
    private static let mostAgeGrowthNs = 1e6
}

/// What is known of the rates of one family of points.
struct RateBracket: Equatable {
    /// The highest rate sustained below every one that was not.
    var low: Double?
    /// The lowest rate that was not sustained.
    var high: Double?
    /// A higher rate was sustained all the same: the machine disturbed one of them.
    var isMonotone = true

    /// - Parameter points: rates, ascending, and whether most of their trials were sustained.
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

    /// Where to look next: in the middle, by ratio; beyond the end as long as there is only one.
    var next: Double? {
        switch (low, high) {
        case (let low?, let high?): high / low > Self.fineEnough ? (low * high).squareRoot() : nil
        case (let low?, nil): low * 2
        case (nil, let high?): high / 2
        case (nil, nil): nil
        }
    }

    /// A twentieth apart is as near as trials of seconds can tell.
    private static let fineEnough = 1.05
}

extension SweepFigures {
    /// `low` and `high` are the ends of the bracket; either is missing where the sweep does not reach so far.
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
