// Wraps a driver's store with a deliberate flaw; see `Shim`. Everything else is forwarded.
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

extension Shim {
    func wrap(_ store: any DrivenStore) -> any DrivenStore {
        // Also with a share of 0: the shim itself costs something, and the unmodified side must pay it too.
        var delays = [CommitDelay.cpu(share: spinShare)]
        if let waitShare { delays.append(.sleep(share: waitShare)) }
        if tailEvery > 0 { delays.append(.tail(every: tailEvery, lengthNs: tailNs)) }
        return store.forwarded { [delays] in
            SlowWriter($0, delays)
        } sink: { [self] in
            lingerEvery > 0 ? ShimmedSink($0, self) : $0
        }
    }
}

private final class ShimmedSink: DeliverySink {
    private let sink: any DeliverySink
    private let shim: Shim
    private let callbacks = DeliveryBound(0)

    init(_ sink: any DeliverySink, _ shim: Shim) { (self.sink, self.shim) = (sink, shim) }

    func deliver(_ delivery: borrowing Delivery) {
        sink.deliver(delivery)
        callbacks.value += 1
        if callbacks.value.isMultiple(of: shim.lingerEvery) {
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + shim.lingerNs)
        }
    }

    func fail(_ error: any Error) { sink.fail(error) }
}
