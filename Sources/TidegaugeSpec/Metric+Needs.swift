// What a metric asks of a scenario and of a trial.

package enum MetricNeed: Sendable, Hashable {
    /// Says nothing where nobody watches.
    case observers
    /// A second trial without observers beside each measured one.
    case baseline
    /// A second trial on the no-op driver.
    case noop
    /// Threads that do nothing but wake one another, between the commits of the only writer.
    case wakeProbe
    /// The counters of the allocator.
    case allocationCounters
    /// Values that not every point of a scenario has.
    case setting(SettingNeed)
}

package enum SettingNeed: Sendable {
    case gapsToWakeIn, calls, severalWriters, closedLoad, schedule, cancelledObservers, harmedWriter, harmedDeliveries
    case evenStall, slowdown, countedForm, hosts
}

extension Metric {
    public var needsObservers: Bool { entry.needs.contains(.observers) }
    public var needsBaseline: Bool { entry.needs.contains(.baseline) }
    public var needsNoop: Bool { entry.needs.contains(.noop) }
    public var needsWakeProbe: Bool { entry.needs.contains(.wakeProbe) }
    public var countsAllocations: Bool { entry.needs.contains(.allocationCounters) }

    /// Whether two commits can be compared by it: a figure of the store, which a single trial has, with a better and a worse.
    /// What a store promises is judged in every trial and has nothing to compare.
    package var tellsCommitsApart: Bool {
        entry.subject == .store && !isOverSweep && entry.source != .peers && entry.worse != .neither
            && entry.kind != .event
    }
}
