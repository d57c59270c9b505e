import StillingWellBasis

public typealias MonotonicClock = StillingWellBasis.MonotonicClock
