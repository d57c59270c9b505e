import StillingWellBasis

/// The clock that everything here is measured by.
public typealias MonotonicClock = StillingWellBasis.MonotonicClock
