// Calls of the system that are slower than they should be, or that lie: flushes that take their time, and a wall clock that
// is set forward and back. What is between the program and the C library stands in CFaults.
import CFaults

/// Flushes that take longer, from before the first commit until everything is delivered. The conducting thread.
final class SlowFlushes: Companion {
    init(lengthNs: Int64) { cf_set_flush_delay_ns(lengthNs) }

    func end(into findings: inout Findings) { cf_set_flush_delay_ns(0) }
}

/// A wall clock that is an hour ahead for a tenth of a second, and an hour behind from then on. The conducting thread.
final class ClockStep: Companion {
    private static let hourNs: Int64 = 3_600_000_000_000

    /// From the start of the window.
    private let atNs: Int64
    private var isStepped = false

    init(atNs: Int64) { self.atNs = atNs }

    func look(_ sinceNs: Int64) {
        guard sinceNs >= atNs else { return }
        if !isStepped {
            isStepped = true
            cf_step_wall_clock_ns(Self.hourNs)
        } else if sinceNs >= atNs + 100_000_000 {
            cf_step_wall_clock_ns(-Self.hourNs)
        }
    }

    func end(into findings: inout Findings) { cf_step_wall_clock_ns(0) }
}
