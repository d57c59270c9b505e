import Basis

/// The clock that everything here is measured by.
public typealias MonotonicClock = Basis.MonotonicClock
