// Checks, by readings before each trial and after the last, that the machine kept its speed. Times and rates that are
// computed from several trials need this: the points of a sweep, a trial and its companions, or trials of two drivers.
import TidegaugeMeasure
import TidegaugeSpec

struct MachinePace {
    /// Yardsticks for what nearly every trial does: commits and memory loads.
    static let yardsticks: [Yardstick] = [.rawCommit, .memoryWalk]

    private var readingsNs: [Yardstick: [Double]] = [:]
    private var failure: String?

    /// Returns whether the metric is a time or rate that is made of several trials.
    static func isMade(ofSeveral metric: Metric) -> Bool {
        if metric.entry.kind.isCounted { return false }
        return metric.isOverSweep || metric.entry.source == .companions || metric.entry.source == .peers
    }

    /// Returns whether one of the limits is on such a metric.
    static func isNeeded(for limits: [Limit]) -> Bool { limits.contains { isMade(ofSeveral: $0.metric) } }

    /// Reads the yardsticks.
    /// - Parameter readNs: measures a yardstick. After an error, trials are not comparable.
    mutating func read(_ readNs: (Yardstick) throws -> Double) {
        for yardstick in Self.yardsticks {
            do {
                readingsNs[yardstick, default: []].append(try readNs(yardstick))
            } catch {
                failure = failure ?? "the yardstick \(yardstick.rawValue) could not be taken: \(error)"
            }
        }
    }

    /// Records that a trial was measured in an earlier part of the run.
    mutating func meetEarlierTrial() { failure = failure ?? "trials were kept from an earlier part of the run" }

    /// Reason why the trials are not comparable, or nil.
    var obstacle: String? {
        if let failure { return failure }
        for yardstick in Self.yardsticks {
            guard let readings = readingsNs[yardstick], let low = readings.min(), let high = readings.max() else {
                continue
            }
            if !YardstickReading.isSame(low, high) {
                let range = "\(Humanised.text(low, unit: "ns")) … \(Humanised.text(high, unit: "ns"))"
                return "the yardstick \(yardstick.rawValue) took \(range) between the trials"
            }
        }
        return nil
    }
}
