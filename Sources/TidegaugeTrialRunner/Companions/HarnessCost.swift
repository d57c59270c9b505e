// Costs of the harness: reading the clock, measured in the warm-up, and recording, measured at the end if a metric
// needs it.
import TidegaugeMeasure
import TidegaugeSpec

final class HarnessCost: Companion {
    private let recordsCost: Bool
    private var clockNs: Double = 0

    init(_ spec: TrialSpec) { recordsCost = !Set(spec.metrics).isDisjoint(with: [.recordingCost, .recordingBytes]) }

    func warmUp(_ window: Window) { clockNs = ClockCost.measure() }

    func end(into findings: inout Findings) throws {
        findings.clockNs = clockNs
        if recordsCost { findings.recording = try RecordingCost() }
    }
}

/// Cost of reading the clock. Times shorter than a few readings are meaningless.
enum ClockCost {
    /// Returns the cost in ns: the mean of the fastest of 16 batches, because the thread may be interrupted in others.
    static func measure() -> Double {
        let count = 256
        return (0..<16).map { _ in
            let startNs = MonotonicClock.nowNs()
            var endNs = startNs
            for _ in 0..<count { endNs = MonotonicClock.nowNs() }
            return Double(endNs - startNs) / Double(count)
        }.min()!
    }
}
