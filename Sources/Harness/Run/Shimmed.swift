// A store with a flaw on purpose: see `Shim`. Everything else passes through.
//
// A writer belongs to its thread and a sink to its site, so neither count needs a lock.
import Glibc
import Measure
import Scenario
import StoreDriver

/// A driver's store behind a shim.
final class ShimmedStore: DrivenStore, @unchecked Sendable {
    private let store: any DrivenStore
    private let shim: Shim

    init(_ store: any DrivenStore, _ shim: Shim) {
        self.store = store
        self.shim = shim
    }

    func load(count: Int, item: (Int) -> Item) throws { try store.load(count: count, item: item) }
    func makeWriter() throws -> any StoreWriter { ShimmedWriter(try store.makeWriter(), shim) }
    func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any Subscription {
        let sink: any DeliverySink = shim.lingerEvery > 0 ? ShimmedSink(sink, shim) : sink
        return try store.subscribe(to: query, at: site, sink: sink)
    }
    func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        try store.call(call, at: site, granted: granted)
    }
    func contents(of query: Query) throws -> [Item] { try store.contents(of: query) }
    func fileBytes() throws -> Int { try store.fileBytes() }
    func compactedBytes() throws -> Int { try store.compactedBytes() }
    func activeVersions() throws -> Int { try store.activeVersions() }
    func pin() throws -> AnyObject { try store.pin() }
    func close() throws { try store.close() }
}

private final class ShimmedWriter: StoreWriter {
    private let writer: any StoreWriter
    private let shim: Shim
    private var commits = 0

    init(_ writer: any StoreWriter, _ shim: Shim) {
        self.writer = writer
        self.shim = shim
    }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        let startNs = Self.threadCPUNs()
        let version = try writer.commit(changes, locked: locked)
        let endNs = Self.threadCPUNs()
        let untilNs = endNs + Int64(Double(endNs - startNs) * shim.spinShare)
        while Self.threadCPUNs() < untilNs {}
        commits += 1
        if shim.tailEvery > 0, commits.isMultiple(of: shim.tailEvery) {
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + shim.tailNs)
        }
        return version
    }

    private static func threadCPUNs() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}

private final class ShimmedSink: DeliverySink, @unchecked Sendable {
    private let sink: any DeliverySink
    private let shim: Shim
    private var callbacks = 0

    init(_ sink: any DeliverySink, _ shim: Shim) {
        self.sink = sink
        self.shim = shim
    }

    func deliver(_ delivery: borrowing Delivery) {
        sink.deliver(delivery)
        callbacks += 1
        if callbacks.isMultiple(of: shim.lingerEvery) {
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + shim.lingerNs)
        }
    }

    func fail(_ error: any Error) { sink.fail(error) }
}
