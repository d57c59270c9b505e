// A correct store that remembers, weakly, whom it delivered to.
import HarnessFixtures
import StoreDriver
import TracedSync

final class WatchedSinks: StoreDriver, @unchecked Sendable {
    private let lock = TracedMutex("watched sinks")
    private var sinks: [Weak] = []

    private struct Weak {
        weak var sink: (any DeliverySink)?
    }

    var name: String { "model" }
    var capabilities: Capabilities { ModelDriver.capabilities }
    /// How many there were, and how many there still are.
    var counts: (all: Int, living: Int) { lock.withLock { (sinks.count, sinks.count { $0.sink != nil }) } }

    func open(_ configuration: StoreConfiguration) throws -> any DrivenStore {
        Store(ModelStore()) { [self] sink in lock.withLock { sinks.append(Weak(sink: sink)) } }
    }

    private final class Store: DrivenStore {
        private let store: ModelStore
        private let note: @Sendable (any DeliverySink) -> Void

        init(_ store: ModelStore, _ note: @escaping @Sendable (any DeliverySink) -> Void) {
            self.store = store
            self.note = note
        }

        func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any Subscription {
            note(sink)
            return store.subscribe(to: query, at: site, sink: sink)
        }

        func load(count: Int, item: (Int) -> Item) { store.load(count: count, item: item) }
        func makeWriter() -> any StoreWriter { store.makeWriter() }
        func contents(of query: Query) -> [Item] { store.contents(of: query) }
        func fileBytes() -> Int { 0 }
        func close() { store.close() }
    }
}
