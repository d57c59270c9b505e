// GRDB delivers on dispatch queues; a run loop that is not the main thread's serves none. This hands its deliveries to a
// run loop, in order.
//
// `actions` is guarded by `lock`; they run, and are released, without it.
import GRDB
import StoreDriver
import TracedSync

final class RunLoopScheduler: ValueObservationScheduler, @unchecked Sendable {
    private let lock = TracedMutex("grdb run loop")
    private var actions: [@Sendable () -> Void] = []
    private var signal: SiteSignal?

    /// On the site.
    init(_ site: DeliverySite) {
        signal = SiteSignal(site, "grdb delivery") { [weak self] in self?.run() }
    }

    func immediateInitialValue() -> Bool { false }

    func schedule(_ action: @escaping @Sendable () -> Void) {
        lock.withLock { actions.append(action) }
        signal?.raise()
    }

    private func run() {
        let taken = lock.withLock {
            defer { actions = [] }
            return actions
        }
        for action in taken { action() }
    }

    func end() { signal?.invalidate() }
}
