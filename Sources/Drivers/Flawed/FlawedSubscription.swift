// One observer of a flawed store. Its lock is not held during callbacks.
import StillingWellSync
import TidegaugeDriver

final class FlawedSubscription: DriverSubscription {
    private struct State {
        var isRunning = false
        var hasRoom = true
    }

    let site: FlawedSite
    private unowned let store: FlawedStore
    private let sink: CancellableSink
    private let state = Guarded("subscription state", State())
    private let idle: TracedCondition
    private let running = TracedResource(.signal, "delivery")
    private let roomMade: TracedCondition

    init(_ store: FlawedStore, _ site: FlawedSite, _ sink: any DeliverySink) {
        (self.store, self.site) = (store, site)
        self.sink = CancellableSink(sink)
        idle = TracedCondition("subscription idle", state)
        roomMade = TracedCondition("mailbox room", state)
    }

    /// Runs on the delivery context, or on the thread that the flaw uses.
    func deliver(_ version: Int64, isInitial: Bool = false) {
        state.withLock { $0.isRunning = true }
        Tracing.note(.acquired, on: running)
        sink.deliver(Delivery(version: version, isInitial: isInitial, count: 0))
        Tracing.note(.released, on: running)
        state.withLock {
            $0.isRunning = false
            idle.broadcast()
        }
    }

    /// Waits until a running callback has returned. Never returns if called in that callback.
    func awaitIdle() { state.wait(for: idle, from: running) { !$0.isRunning } }

    /// Waits for room for one more delivery; the delivery context makes room.
    func takeRoom() { state.withLock(after: roomMade, for: site.resource, once: { $0.hasRoom }) { $0.hasRoom = false } }

    func makeRoom() {
        state.withLock {
            $0.hasRoom = true
            roomMade.broadcast()
        }
    }

    func cancel() {
        sink.cancel()
        store.drop(self)
    }

    func currentItems() throws -> [Item] { [] }
}
