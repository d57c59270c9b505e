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

extension Metric {
    public var needsObservers: Bool { entry.needs.contains(.observers) }
    public var needsBaseline: Bool { entry.needs.contains(.baseline) }
    public var needsNoop: Bool { entry.needs.contains(.noop) }
    public var needsWakeProbe: Bool { entry.needs.contains(.wakeProbe) }
    public var countsAllocations: Bool { entry.needs.contains(.allocationCounters) }

    /// Whether the metric can compare two commits: a figure of the store from a single trial, with a better and a
    /// worse direction. Events that a store promises are judged in every trial instead.
    package var tellsCommitsApart: Bool {
        entry.subject == .store && !isOverSweep && entry.source != .peers && entry.worse != .neither
            && entry.kind != .event
    }
}
