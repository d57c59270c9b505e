// Deliveries of an engine: received on the reading thread, made on the delivery context. The engine's own time is
// recorded, so the hand-over from one thread to the other is not measured.
//
// `lastAtNs` belongs to the reading thread and `shown` to the delivery context.
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure

/// Pending deliveries of one delivery context, in the order in which they came.
final class ProcessSite: Sendable {
    private let pending = Guarded<[(ProcessSubscription, EngineMessage)]>("engine deliveries", [])
    private let signal = SetOnce<SiteSignal>()

    /// On the delivery context.
    init(_ site: DeliverySite) {
        signal.set(SiteSignal(site, "engine delivery") { [weak self] in self?.deliver() })
    }

    func add(_ delivery: EngineMessage, to subscription: ProcessSubscription) {
        pending.withLock { $0.append((subscription, delivery)) }
        signal.known?.raise()
    }

    private func deliver() {
        let taken = pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
        for (subscription, delivery) in taken { subscription.show(delivery) }
    }

    /// Any thread.
    func end() { signal.known?.invalidate() }
}

final class ProcessSubscription: DriverSubscription, EngineSubscriber {
    /// Content of the last delivery.
    private enum Shown {
        case nothing
        case keys([Int64])
        case rows([Item])
    }

    let number: Int
    private let query: Query
    private let store: ProcessStore
    private let site: ProcessSite
    private let sink: CancellableSink
    /// Time of the last delivery, or the time before the subscription.
    private let lastAtNs: DeliveryBound<Int64>
    private let shown = DeliveryBound<Shown>(.nothing)
    private let isCancelled = Atomic<Bool>(false)

    init(_ number: Int, _ query: Query, _ store: ProcessStore, _ site: ProcessSite, _ sink: any DeliverySink) {
        (self.number, self.query, self.store, self.site) = (number, query, store, site)
        self.sink = CancellableSink(sink)
        lastAtNs = DeliveryBound(MonotonicClock.nowNs())
    }

    // MARK: The reading thread

    func receive(_ delivery: EngineMessage, receivedNs: Int64) -> ProcessFailure? {
        guard let atNs = delivery.atNs, delivery.count != nil else {
            return ProcessFailure(.order, "a delivery of subscription \(number) lacks 'at' or 'count'")
        }
        if atNs > receivedNs {
            return ProcessFailure(
                .time, "a delivery of subscription \(number) states 'at' \(atNs), and was read before, at \(receivedNs)"
            )
        }
        if atNs < lastAtNs.value {
            return ProcessFailure(
                .time,
                "a delivery of subscription \(number) states 'at' \(atNs), which is before the subscription or the delivery "
                    + "before it, at \(lastAtNs.value)")
        }
        lastAtNs.value = atNs
        if let problem = store.contradiction(in: delivery) { return ProcessFailure(.facts, problem) }
        site.add(delivery, to: self)
        return nil
    }

    func fail(_ failure: ProcessFailure) { sink.fail(failure) }

    // MARK: The delivery context

    func show(_ delivery: EngineMessage) {
        // Set before the call, because the called observer reads the new rows.
        if let rows = delivery.rows {
            shown.value = .rows(rows.map(NarrowNumber.wideItem))
        } else if let keys = delivery.keys {
            shown.value = .keys(keys.map { NarrowNumber.wideKey(Int64($0)) })
        }
        sink.deliver(
            Delivery(
                version: delivery.version, isInitial: delivery.isInitial, count: delivery.count ?? 0,
                deletions: delivery.deletions, insertions: delivery.insertions, modifications: delivery.modifications,
                moveCount: delivery.moveCount, atNs: delivery.atNs))
    }

    /// Cancels in the engine too, and waits for its reply. A failure of the engine is reported to the sinks of its
    /// subscriptions.
    func cancel() {
        if !isCancelled.exchange(true, ordering: .acquiringAndReleasing) { try? store.cancel(number) }
        sink.cancel()
    }

    /// Rows of the last delivery. Other columns than the key are read from the store if it shows keys, and all of them
    /// if it shows nothing.
    func currentItems() throws -> [Item] {
        switch shown.value {
        case .rows(let rows): return rows
        case .nothing: return try store.contents(of: query)
        case .keys(let keys):
            let items = Dictionary(
                try store.contents(of: Query()).map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
            return keys.compactMap { items[$0] }
        }
    }

    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) throws {
        switch shown.value {
        case .rows(let rows): for row in rows[indices.clamped(to: 0..<rows.count)] { body(row) }
        case .keys(let keys): forEachShown(indices, of: keys, body)
        case .nothing: break
        }
    }
}
