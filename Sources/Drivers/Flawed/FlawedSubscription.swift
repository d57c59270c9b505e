// One observer of a flawed store. `state` guards what is mutable; nothing is called under it.
import StoreDriver
import TracedSync

final class FlawedSubscription: Subscription, @unchecked Sendable {
    let site: FlawedSite
    private unowned let store: FlawedStore
    private let sink: CancellableSink
    private let state = TracedMutex("subscription state")
    private let idle: TracedCondition
    private let running = TracedResource(.signal, "delivery")
    private var isRunning = false
    private var hasRoom = true
    private let roomMade: TracedCondition

    init(_ store: FlawedStore, _ site: FlawedSite, _ sink: any DeliverySink) {
        self.store = store
        self.site = site
        self.sink = CancellableSink(sink)
        idle = TracedCondition("subscription idle", state)
        roomMade = TracedCondition("mailbox room", state)
    }

    /// On the site, or wherever the flaw has it.
    func deliver(_ version: Int64, isInitial: Bool = false) {
        state.withLock { isRunning = true }
        Tracing.note(.acquired, on: running)
        sink.deliver(Delivery(version: version, isInitial: isInitial, count: 0))
        Tracing.note(.released, on: running)
        state.withLock {
            isRunning = false
            idle.broadcast()
        }
    }

    /// Waits until a call that runs has returned; in that call itself, for ever.
    func awaitIdle() { state.withLock { while isRunning { idle.wait(for: running) } } }

    /// Waits for room for one more delivery, which the site makes.
    func takeRoom() {
        state.withLock {
            while !hasRoom { roomMade.wait(for: site.resource) }
            hasRoom = false
        }
    }

    func makeRoom() {
        state.withLock {
            hasRoom = true
            roomMade.broadcast()
        }
    }

    func cancel() {
        sink.cancel()
        store.drop(self)
    }

    func currentItems() throws -> [Item] { [] }
}
