import TidegaugeDriver

/// Outcome of a history.
struct ConformOutcome: Sendable {
    var breaches = ConformBreaches()
    /// Whether the engine takes the times of its commits itself, in a process of its own.
    var isSelfTimed = false
    /// Whether a call has not returned. Its thread is still there.
    var isHung = false
    var unavailable: DriverUnavailable?
}
