// Injects a fault between a store and the harness, to test whether the harness detects it: slower commits, lost
// deliveries, reordered deliveries. Everything else is forwarded.
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeSpec

/// The injected fault of one trial. Any thread.
final class InjectedFault: Companion, Sendable {
    private let fault: FaultSpec
    /// Number of deliveries of changes over all subscriptions that could be harmed.
    fileprivate let deliveries = Atomic<Int>(0)
    fileprivate let harmed = Atomic<Int>(0)

    init(_ fault: FaultSpec) { self.fault = fault }

    /// Returns the store itself if the fault does not need a wrapper.
    func wrap(_ store: any DrivenStore) -> any DrivenStore {
        switch fault.injection {
        case .slowdown(let amount):
            let delay = CommitDelay.half(share: amount)
            return store.forwarded(writer: { SlowWriter($0, [delay]) })
        case .loss, .reorder: return store.forwarded(sink: { [self] in HarmedSink($0, self, fault.injection) })
        case .none, .stall, .writerKilled, .writerStopped, .observerKilled, .diskFull, .slowFsync, .clockStep,
            .serverRestarted, .connectionCut, .observerStopped, .largeTransaction:
            return store
        }
    }

    func close(into findings: inout Findings) {
        if fault.kind.mustBeCaught { findings.harmedDeliveries = harmed.load(ordering: .relaxed) }
    }
}

/// Used on its delivery context alone, except `fail` and the counts.
private final class HarmedSink: DeliverySink {
    private let sink: any DeliverySink
    private let injected: InjectedFault
    private let injection: Injection
    private let held = DeliveryBound<Delivery?>(nil)

    init(_ sink: any DeliverySink, _ injected: InjectedFault, _ injection: Injection) {
        (self.sink, self.injected, self.injection) = (sink, injected, injection)
    }

    func fail(_ error: any Error) { sink.fail(error) }

    func deliver(_ delivery: borrowing Delivery) {
        if let held = held.value.take() {
            sink.deliver(delivery)
            return sink.deliver(held)
        }
        guard !delivery.isInitial else { return sink.deliver(delivery) }
        let number = injected.deliveries.add(1, ordering: .relaxed).newValue
        switch injection {
        case .loss(let every) where number % every == 0: injected.harmed.add(1, ordering: .relaxed)
        case .reorder(let every) where number == every:
            injected.harmed.add(1, ordering: .relaxed)
            held.value = copy delivery
        case .none, .stall, .slowdown, .loss, .reorder, .writerKilled, .writerStopped, .observerKilled, .diskFull,
            .slowFsync, .clockStep, .serverRestarted, .connectionCut, .observerStopped, .largeTransaction:
            sink.deliver(delivery)
        }
    }
}
