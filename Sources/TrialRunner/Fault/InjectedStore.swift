// A store with a fault put between it and the harness, to see whether the harness notices: commits that take longer,
// deliveries that are lost or change places. Everything else is passed on.
import Foundation
import Measure
import Scenario
import Statistics
import StoreDriver
import Synchronization

/// Wraps a store; any thread, as the store inside.
final class InjectedStore: ForwardingStore, Companion, @unchecked Sendable {
    let store: any DrivenStore
    private let fault: FaultSpec
    /// Deliveries that told of changes, over all subscriptions.
    fileprivate let deliveries = Atomic<Int>(0)
    fileprivate let harmed = Atomic<Int>(0)

    private init(_ store: any DrivenStore, _ fault: FaultSpec) {
        self.store = store
        self.fault = fault
    }

    /// The store itself where nothing is to be put in between.
    static func wrapping(_ store: any DrivenStore, _ fault: FaultSpec) -> any DrivenStore {
        switch fault.injection {
        case .slowdown, .loss, .reorder: InjectedStore(store, fault)
        case .none, .stall, .writerKilled, .writerStopped, .observerKilled, .diskFull, .slowFsync, .clockStep: store
        }
    }

    func close(into findings: inout Findings) {
        if fault.kind.mustBeCaught { findings.harmedDeliveries = harmed.load(ordering: .relaxed) }
    }

    func makeWriter() throws -> any StoreWriter {
        let writer = try store.makeWriter()
        return if case .slowdown(let amount) = fault.injection { SlowWriter(writer, amount) } else { writer }
    }

    func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any Subscription {
        let sink = fault.kind.mustBeCaught ? HarmedSink(sink, self, fault.injection) : sink
        return try store.subscribe(to: query, at: site, sink: sink)
    }
}

/// Which of a writer's commits are slowed down: half of them, in no order that a store's own rhythm could fall in step with.
enum SlowCommits {
    static func contains(_ number: Int) -> Bool {
        var draw = SplitMix64(seed: UInt64(number))
        return draw.next() & 1 == 1
    }
}

/// Some of its commits spin for a share of the time they took.
private final class SlowWriter: StoreWriter {
    private let writer: any StoreWriter
    private let amount: Double
    private var made = 0

    init(_ writer: any StoreWriter, _ amount: Double) {
        self.writer = writer
        self.amount = amount
    }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        let beginNs = MonotonicClock.nowNs()
        let version = try writer.commit(changes, locked: locked)
        defer { made += 1 }
        guard SlowCommits.contains(made) else { return version }
        let nowNs = MonotonicClock.nowNs()
        let untilNs = nowNs + Int64(Double(nowNs - beginNs) * amount)
        while MonotonicClock.nowNs() < untilNs {}
        return version
    }
}

/// On its site alone, but for the count.
private final class HarmedSink: DeliverySink, @unchecked Sendable {
    private let sink: any DeliverySink
    private let store: InjectedStore
    private let injection: Injection
    private var held: Delivery?

    init(_ sink: any DeliverySink, _ store: InjectedStore, _ injection: Injection) {
        self.sink = sink
        self.store = store
        self.injection = injection
    }

    func fail(_ error: any Error) { sink.fail(error) }

    func deliver(_ delivery: borrowing Delivery) {
        if let held {
            self.held = nil
            sink.deliver(delivery)
            return sink.deliver(held)
        }
        guard !delivery.isInitial else { return sink.deliver(delivery) }
        let number = store.deliveries.add(1, ordering: .relaxed).newValue
        switch injection {
        case .loss(let every) where number % every == 0: store.harmed.add(1, ordering: .relaxed)
        case .reorder(let every) where number == every:
            store.harmed.add(1, ordering: .relaxed)
            held = copy delivery
        case .none, .stall, .slowdown, .loss, .reorder, .writerKilled, .writerStopped, .observerKilled, .diskFull,
            .slowFsync, .clockStep:
            sink.deliver(delivery)
        }
    }
}
