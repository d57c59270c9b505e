// Checks of the values of a point against the needs of a metric.
import TidegaugeSpec

extension SettingNeed {
    /// Returns why the metric cannot be measured with a point's values, as the end of a sentence, or nil.
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
    /// Returns why the metric cannot be measured with a point's values, as the end of a sentence, or nil. Observers
    /// and sweeps are checked elsewhere.
    func obstacle(_ settings: Settings) -> String? {
        for case .setting(let need) in entry.needs {
            if let obstacle = need.obstacle(settings) { return obstacle }
        }
        return nil
    }
}
