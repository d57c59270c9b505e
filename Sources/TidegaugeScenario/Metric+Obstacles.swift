// Checks of the values of a point against the needs of a metric.
import TidegaugeSpec

extension SettingNeed {
    /// Returns why the metric cannot be measured with a point's values, as the end of a sentence, or nil.
    func obstacle(_ settings: Settings) -> String? {
        let (writers, observers) = (settings.writers, settings.observers)
        switch self {
        case .gapsToWakeIn:
            if writers.load != .open || writers.arrivals == .bursts || writers.threads > 1 || writers.hosts != nil {
                return "is measured between commits: it requires 'load: open', one writer, and no 'arrivals: bursts'"
            }
            return observers.deliver == .runLoop
                ? nil : "compares with the wake-up of a run loop: it requires 'deliver: run-loop'"
        case .calls:
            return observers.calls != .none ? nil : "requires a call that can block: 'observers.calls' is 'none'"
        case .severalWriters: return writers.count > 1 ? nil : "requires two or more 'writers.threads'"
        case .closedLoad:
            return writers.load == .closed
                ? nil : "measures the highest possible rate: it requires 'load: closed'"
        case .schedule: return writers.load == .open ? nil : "compares with a schedule: it requires 'load: open'"
        case .cancelledObservers:
            return observers.subscribe == .cancelled
                ? nil : "is measured after all observers were cancelled: it requires 'observers.subscribe: cancelled'"
        case .harmedWriter:
            return settings.fault.kind.isRecoveredFrom
                ? nil
                : "needs something to recover from: a 'fault.kind' of writer-killed, writer-stopped, server-restarted or "
                    + "connection-cut"
        case .harmedDeliveries:
            return settings.fault.kind.mustBeCaught ? nil : "requires a 'fault.kind' of loss or reorder"
        case .evenStall:
            return settings.fault.kind == .stall && writers.arrivals == .uniform
                ? nil
                : "requires a 'fault.kind' of stall, and 'arrivals: uniform', for which the effect can be computed"
        case .slowdown: return settings.fault.kind == .slowdown ? nil : "requires a 'fault.kind' of slowdown"
        case .hosts:
            return writers.hosts != nil ? nil : "compares clocks of several hosts: it requires 'writers.hosts'"
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
