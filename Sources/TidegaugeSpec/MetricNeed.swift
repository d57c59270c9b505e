// Requirements of a metric on the scenario and the trial.

package enum MetricNeed: Sendable, Hashable {
    /// At least one observer.
    case observers
    /// A second trial without observers beside each measured one.
    case baseline
    /// A paired trial on the no-op driver.
    case noop
    /// The wake probe: threads that only wake one another, between the commits of the only writer.
    case wakeProbe
    /// The counters of the allocator.
    case allocationCounters
    /// A property of the settings, which some points of a scenario may lack.
    case setting(SettingNeed)
}

package enum SettingNeed: Sendable {
    case gapsToWakeIn, calls, severalWriters, closedLoad, schedule, cancelledObservers, harmedWriter, harmedDeliveries
    case evenStall, slowdown, countedForm, hosts
}
