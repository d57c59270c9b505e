// What the harness itself costs: reading the clock, measured in the warm-up, and recording, when all is over.
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

/// What it takes to read the clock: no time shorter than a few of these means anything.
enum ClockCost {
    /// In ns, the mean of the best of some batches: in others the thread was not running all the time.
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
