// Whether the machine was the same for all trials of which one figure, by clocks, is made: a line through the points of a sweep, a
// trial beside its companions or beside another driver's. Where it became slower between them, the figure tells of the machine.
import TidegaugeMeasure
import TidegaugeSpec

struct MachinePace {
    /// Of what nearly every trial does: commits, and loads from memory.
    static let yardsticks: [Yardstick] = [.rawCommit, .memoryWalk]

    private var readingsNs: [Yardstick: [Double]] = [:]
    private var failure: String?

    /// Whether a figure of it is made of several trials, and by clocks.
    static func isMade(ofSeveral metric: Metric) -> Bool {
        if metric.entry.kind.isCounted { return false }
        return metric.isOverSweep || metric.entry.source == .companions || metric.entry.source == .peers
    }

    /// Whether one of the limits is held against such a figure.
    static func isNeeded(for limits: [Limit]) -> Bool { limits.contains { isMade(ofSeveral: $0.metric) } }

    /// Before each trial, and after the last one.
    /// - Parameter readNs: takes a yardstick; where that fails, nothing is known of the machine.
    mutating func read(_ readNs: (Yardstick) throws -> Double) {
        for yardstick in Self.yardsticks {
            do {
                readingsNs[yardstick, default: []].append(try readNs(yardstick))
            } catch {
                failure = failure ?? "the yardstick \(yardstick.rawValue) could not be taken: \(error)"
            }
        }
    }

    /// A trial that was made in an earlier part of the run.
    mutating func meetEarlierTrial() { failure = failure ?? "trials were kept from an earlier part of the run" }

    /// Why trials cannot be held against each other; nil where they can.
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
