// Metrics of the delivery of commits to observers.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

extension TrialProvider {
    static let delivery: [Metric: TrialProvider] = [
        .deliveryLatency: .events(.commitToCallback) { $0.pairs.delivery },
        .lastDeliveryLatency: .events(.commitToCallback) { $0.pairs.lastDelivery },
        .endToEndLatency: .events(.dueToCallback) { $0.pairs.endToEnd },
        .writeToCallback: .events(.commitToCallback) { $0.pairs.writeToCallback },
        .wakeFloor: .events { $0.findings.wakeFloor },
        .deliveryOverFloor: .figures { $0.deliveryOverFloor },
        .callbackTime: .events { $0.pairs.callbackTime },
        .staleness: .overTime { ($0.pairs.staleness.staleness, $0.pairs.staleness.overTime) },
        .versionLag: .overTime { ($0.pairs.staleness.versionLag, $0.pairs.staleness.lagOverTime) },
        .coalescingRatio: .number { ($0.pairs.coalescingRatio, $0.pairs.callbacks) },
        .batchSpan: .events { $0.pairs.batchSpan },
        .spuriousNotifications: .number { (Double($0.verdict.spurious), $0.callbacks) },
        .missedFinal: .number { (Double($0.verdict.missedFinal), $0.spec.observers.count) },
        .timeToFirstDelivery: .events(.outside) { $0.pairs.firstDelivery },
        .observerStall: .events { $0.findings.stalls },
        .fanoutSpan: .events { $0.pairs.fanoutSpan },
    ]
}

extension FigureSheet {
    /// Ratio of the median write-to-callback time to the median time of the wake probe.
    fileprivate var deliveryOverFloor: [Figure] {
        guard let floor = findings.wakeFloor else { return [] }
        let ratio = pairs.writeToCallback.medianRatio(to: floor)
        // A median needs 20 samples on each side.
        let n = min(pairs.writeToCallback.count, floor.count)
        return [Figure(.deliveryOverFloor, .value, n >= 20 ? ratio : nil, n: n, flags: drift)]
    }
}
