// What a metric asks of a scenario and of a trial.

enum MetricNeed: Sendable, Hashable {
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

enum SettingNeed: Sendable {
    case gapsToWakeIn, calls, severalWriters, closedLoad, schedule, cancelledObservers, harmedWriter, harmedDeliveries
    case evenStall, slowdown, countedForm, hosts

    /// Why the values of a point do not carry the metric, as the end of a sentence; nil where they do.
    func obstacle(_ settings: Settings) -> String? {
        let (writers, observers) = (settings.writers, settings.observers)
        switch self {
        case .gapsToWakeIn:
            if writers.load != .open || writers.arrivals == .bursts || writers.threads > 1 || writers.hosts != nil {
                return "needs gaps to measure in: 'load: open', one writer, and no 'arrivals: bursts'"
            }
            return observers.deliver == .runLoop
                ? nil : "wakes a run loop to compare with: it needs 'deliver: run-loop'"
        case .calls:
            return observers.calls != .none ? nil : "needs a call that can stall: 'observers.calls' is 'none'"
        case .severalWriters: return writers.count > 1 ? nil : "needs two or more 'writers.threads' to compare"
        case .closedLoad:
            return writers.load == .closed
                ? nil : "asks for what is possible, not for what was scheduled: it needs 'load: closed'"
        case .schedule: return writers.load == .open ? nil : "asks how a schedule was kept: it needs 'load: open'"
        case .cancelledObservers:
            return observers.subscribe == .cancelled
                ? nil : "is what is left when all have gone: it needs 'observers.subscribe: cancelled'"
        case .harmedWriter:
            return settings.fault.kind.isRecoveredFrom
                ? nil
                : "needs something to recover from: a 'fault.kind' of writer-killed, writer-stopped, server-restarted or "
                    + "connection-cut"
        case .harmedDeliveries:
            return settings.fault.kind.mustBeCaught ? nil : "needs a 'fault.kind' of loss or reorder"
        case .evenStall:
            return settings.fault.kind == .stall && writers.arrivals == .uniform
                ? nil : "needs a 'fault.kind' of stall and even arrivals, for which it can be predicted"
        case .slowdown: return settings.fault.kind == .slowdown ? nil : "needs a 'fault.kind' of slowdown"
        case .hosts: return writers.hosts != nil ? nil : "is of clocks of several hosts: it needs 'writers.hosts'"
        case .countedForm:
            let obstacle = CountSpec.obstacle(
                settings.dataset, settings.observers, settings.writers, settings.fault)
            return obstacle.map { "needs trials that can be counted: \($0)" }
        }
    }
}

extension Metric {
    public var needsObservers: Bool { entry.needs.contains(.observers) }
    public var needsBaseline: Bool { entry.needs.contains(.baseline) }
    public var needsNoop: Bool { entry.needs.contains(.noop) }
    public var needsWakeProbe: Bool { entry.needs.contains(.wakeProbe) }
    public var countsAllocations: Bool { entry.needs.contains(.allocationCounters) }

    /// Whether two commits can be compared by it: a figure of the store, which a single trial has, with a better and a worse.
    /// What a store promises is judged in every trial and has nothing to compare.
    var tellsCommitsApart: Bool {
        entry.subject == .store && !isOverSweep && entry.source != .peers && entry.worse != .neither
            && entry.kind != .event
    }

    /// Why the values of a point do not carry the metric, as the end of a sentence; nil where they do, and for what is
    /// checked elsewhere (observers, sweeps).
    func obstacle(_ settings: Settings) -> String? {
        for case .setting(let need) in entry.needs {
            if let obstacle = need.obstacle(settings) { return obstacle }
        }
        return nil
    }
}
