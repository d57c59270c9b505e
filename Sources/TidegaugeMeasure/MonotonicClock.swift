import StillingWellBasis

/// The clock of all measurements.
public typealias MonotonicClock = StillingWellBasis.MonotonicClock
