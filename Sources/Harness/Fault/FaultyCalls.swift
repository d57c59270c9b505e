// Calls of the system that are slower than they should be, or that lie: flushes that take their time, and a wall clock that
// is set forward and back. What is between the program and the C library stands in CFaults.
import CFaults
import Measure
import Scenario

/// In force from `init` or from its time; over with `end`. The conducting thread.
final class FaultyCalls {
    private static let hourNs: Int64 = 3_600_000_000_000

    private let atNs: Int64
    private var isStepped = false

    /// nil where the trial has none.
    init?(_ spec: TrialSpec, _ window: Window) {
        atNs = window.startNs + spec.fault.atNs
        switch spec.fault.kind {
        case .slowFsync: cf_set_flush_delay_ns(spec.fault.lengthNs)
        case .clockStep: break
        default: return nil
        }
        isClock = spec.fault.kind == .clockStep
    }

    private let isClock: Bool

    /// An hour forward, and a tenth of a second later two back.
    func look(_ nowNs: Int64) {
        guard isClock, nowNs >= atNs else { return }
        if !isStepped {
            isStepped = true
            cf_step_wall_clock_ns(Self.hourNs)
        } else if nowNs >= atNs + 100_000_000 {
            cf_step_wall_clock_ns(-Self.hourNs)
        }
    }

    func end() {
        cf_set_flush_delay_ns(0)
        cf_step_wall_clock_ns(0)
    }
}
