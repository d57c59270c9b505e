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
    case evenStall, slowdown
}

extension SettingNeed {
    /// Why the values of a point do not carry the metric, as the end of a sentence; nil where they do.
    func obstacle(_ settings: Settings) -> String? {
        let isOpen = settings.word(.load) == WritersSpec.Load.open.rawValue
        switch self {
        case .gapsToWakeIn:
            let isBursts = settings.word(.arrivals) == WritersSpec.Arrivals.bursts.rawValue
            if !isOpen || isBursts || settings.integer(.writerThreads) > 1 {
                return "needs gaps to measure in: 'load: open', one writer, and no 'arrivals: bursts'"
            }
            let isRunLoop = settings.word(.deliver) == ObserversSpec.Deliver.runLoop.rawValue
            return isRunLoop ? nil : "wakes a run loop to compare with: it needs 'deliver: run-loop'"
        case .calls:
            let isCalling = settings.word(.calls) != ObserversSpec.Calls.none.rawValue
            return isCalling ? nil : "needs a call that can stall: 'observers.calls' is 'none'"
        case .severalWriters:
            return settings.integer(.writerThreads) > 1 ? nil : "needs two or more 'writers.threads' to compare"
        case .closedLoad:
            let isClosed = settings.word(.load) == WritersSpec.Load.closed.rawValue
            return isClosed ? nil : "asks for what is possible, not for what was scheduled: it needs 'load: closed'"
        case .schedule: return isOpen ? nil : "asks how a schedule was kept: it needs 'load: open'"
        case .cancelledObservers:
            let isCancelled = settings.word(.subscribe) == ObserversSpec.Subscribe.cancelled.rawValue
            return isCancelled ? nil : "is what is left when all have gone: it needs 'observers.subscribe: cancelled'"
        case .harmedWriter:
            let needs: [FaultSpec.Kind] = [.writerKilled, .writerStopped]
            return needs.contains(settings.fault.kind)
                ? nil : "needs something to recover from: a 'fault.kind' of writer-killed or writer-stopped"
        case .harmedDeliveries:
            return settings.fault.kind.mustBeCaught ? nil : "needs a 'fault.kind' of loss or reorder"
        case .evenStall:
            let isEven = settings.word(.arrivals) == WritersSpec.Arrivals.uniform.rawValue
            return settings.fault.kind == .stall && isEven
                ? nil : "needs a 'fault.kind' of stall and even arrivals, for which it can be predicted"
        case .slowdown: return settings.fault.kind == .slowdown ? nil : "needs a 'fault.kind' of slowdown"
        }
    }
}

extension Metric {
    public var needsObservers: Bool { entry.needs.contains(.observers) }
    public var needsBaseline: Bool { entry.needs.contains(.baseline) }
    public var needsNoop: Bool { entry.needs.contains(.noop) }
    public var needsWakeProbe: Bool { entry.needs.contains(.wakeProbe) }
    public var countsAllocations: Bool { entry.needs.contains(.allocationCounters) }

    /// Why the values of a point do not carry the metric, as the end of a sentence; nil where they do, and for what is
    /// checked elsewhere (observers, sweeps).
    func obstacle(_ settings: Settings) -> String? {
        for case .setting(let need) in entry.needs {
            if let obstacle = need.obstacle(settings) { return obstacle }
        }
        return nil
    }
}
