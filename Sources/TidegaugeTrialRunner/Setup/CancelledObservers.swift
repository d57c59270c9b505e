// Observers that were subscribed, called once and cancelled before the load. They show what the leftover machinery
// costs a commit without subscribers.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

final class CancelledObservers: Companion {
    private let group: ObserverGroup
    private let cancelledNs: Int64
    private let callbacks: [Int]

    init?(_ spec: TrialSpec, _ store: any DrivenStore) throws {
        guard spec.observers.subscribe == .cancelled else { return nil }
        group = try ObserverGroup(spec, QueryAssignment(spec), store)
        try group.awaitInitialDeliveries()
        group.cancel()
        cancelledNs = MonotonicClock.nowNs()
        callbacks = group.observers.map(\.callbacks)
    }

    /// Stops the delivery contexts, and reports a violation for each observer that was called after its cancellation.
    func close(into findings: inout Findings) {
        group.stop()
        findings.violations += zip(group.observers, callbacks).compactMap { observer, before in
            observer.late(from: before, cancelledNs: cancelledNs).map {
                "call after cancel: \(observer.name) was called (version \($0.version)) after it had been cancelled"
            }
        }
    }
}
