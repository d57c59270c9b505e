// A driver of a correct store that keeps weak references to the sinks of its subscriptions.
import StillingWellSync
import TidegaugeDriver
import TidegaugeHarnessFixtures

final class WatchedSinks: StoreDriver, @unchecked Sendable {
    private let lock = TracedMutex("watched sinks")
    private var sinks: [Weak] = []

    private struct Weak {
        weak var sink: (any DeliverySink)?
    }

    var name: String { "model" }
    var facts: EngineFacts { ModelDriver().facts }
    /// Number of sinks ever made, and number of those alive.
    var counts: (all: Int, living: Int) { lock.withLock { (sinks.count, sinks.count { $0.sink != nil }) } }

    func open(_ configuration: StoreConfiguration) -> ForwardingStore<ModelStore> {
        ForwardingStore(ModelStore()) {
            $0
        } sink: { [self] sink in
            lock.withLock { sinks.append(Weak(sink: sink)) }
            return sink
        }
    }
}
