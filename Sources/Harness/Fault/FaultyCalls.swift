// Calls of the system that are slower than they should be, or that lie: flushes that take their time, and a wall clock that
// is set forward and back. What is between the program and the C library stands in CFaults.
import CFaults
import Measure
import Scenario

/// In force from `init` or from its time until everything is delivered. The conducting thread.
final class FaultyCalls: Companion {
    private static let hourNs: Int64 = 3_600_000_000_000

    /// From the start of the window.
    private let atNs: Int64
    private let isClock: Bool
    private var startNs: Int64 = 0
    private var isStepped = false

    /// nil where the trial has none. Before the first commit: flushes are slow from here on.
    init?(_ spec: TrialSpec) {
        atNs = spec.fault.atNs
        switch spec.fault.kind {
        case .slowFsync: cf_set_flush_delay_ns(spec.fault.lengthNs)
        case .clockStep: break
        default: return nil
        }
        isClock = spec.fault.kind == .clockStep
    }

    func begin(_ window: Window) { startNs = window.startNs }

    /// An hour forward, and a tenth of a second later two back.
    func look(_ nowNs: Int64) {
        let sinceNs = nowNs - startNs
        guard isClock, sinceNs >= atNs else { return }
        if !isStepped {
            isStepped = true
            cf_step_wall_clock_ns(Self.hourNs)
        } else if sinceNs >= atNs + 100_000_000 {
            cf_step_wall_clock_ns(-Self.hourNs)
        }
    }

    func end(into findings: inout Findings) {
        cf_set_flush_delay_ns(0)
        cf_step_wall_clock_ns(0)
    }
}
