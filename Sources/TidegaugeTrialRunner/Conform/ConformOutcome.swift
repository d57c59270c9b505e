import TidegaugeDriver

/// Outcome of a history.
struct ConformOutcome: Sendable {
    var breaches = ConformBreaches()
    /// Whether the engine takes the times of its commits itself.
    var isSelfTimed = false
    /// Whether a step has not ended within its time limit. Its thread is left running.
    var isHung = false
    var unavailable: DriverUnavailable?
}
