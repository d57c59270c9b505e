// Records the deliveries of all subscriptions of a history, in the order in which they came.
//
// The lock of `state` guards everything that deliveries write. A sink's `subscription` has a lock of its own.
import Dispatch
import Glibc
import StillingWellSync
import TidegaugeDriver

struct ConformDelivery: Sendable {
    let subscription: Int
    /// Position among the deliveries of the subscription.
    let number: Int
    let content: Delivery
    /// Rows, or keys alone if the driver shows keys; nil if they were not read.
    var shown: [Item]?
}

final class ConformRecorder: Sendable {
    struct State: Sendable {
        var deliveries: [ConformDelivery] = []
        var counts: [Int: Int] = [:]
        /// Number of deliveries that a subscription may have, if it has been cancelled or the store is closed.
        var most: [Int: Int] = [:]
        /// Contexts in which a delivery runs.
        var running: Set<Int> = []
        var failure: (any Error)?
        var breaches = ConformBreaches()
    }

    let state = Guarded("conform deliveries", State())
    private let changed: TracedCondition

    init() { changed = TracedCondition("conform delivery", state) }

    /// Deliveries of a subscription so far, and the failure of any subscription.
    func heard(_ subscription: Int) -> (deliveries: [ConformDelivery], failure: (any Error)?) {
        state.withLock { state in
            (state.deliveries.filter { $0.subscription == subscription }, state.failure)
        }
    }

    /// Waits for another delivery of a subscription after `count`, or a failure.
    /// - Returns: false if neither has come before the deadline.
    func wait(_ subscription: Int, after count: Int, untilNs deadlineNs: Int64) -> Bool {
        state.withLock(
            after: changed, untilNs: deadlineNs,
            once: { $0.counts[subscription, default: 0] > count || $0.failure != nil }
        ) { $0.counts[subscription, default: 0] > count || $0.failure != nil }
    }

    /// Forbids further deliveries of a subscription.
    /// - Parameter allowed: number of deliveries that may have been on their way.
    func end(_ subscription: Int, allowed: Int = 0) {
        state.withLock { state in
            let count = state.counts[subscription, default: 0] + allowed
            state.most[subscription] = min(count, state.most[subscription] ?? count)
        }
    }

    func begin(_ subscription: Int, in context: Int, isThere: Bool, _ delivery: borrowing Delivery) {
        let content = copy delivery
        state.withLock { state in
            let number = state.counts[subscription, default: 0]
            state.counts[subscription] = number + 1
            if !isThere { state.breaches.add(.context, "subscription \(subscription) was called elsewhere") }
            if !state.running.insert(context).inserted {
                state.breaches.add(.context, "subscription \(subscription) was called during another delivery there")
            }
            state.deliveries.append(
                ConformDelivery(subscription: subscription, number: number, content: content))
        }
    }

    /// Ends the delivery that runs in `context`.
    func end(_ subscription: Int, in context: Int, shown: [Item]?) {
        state.withLock { state in
            state.running.remove(context)
            let last = state.deliveries.lastIndex { $0.subscription == subscription }
            if let shown, let last { state.deliveries[last].shown = shown }
            changed.broadcast()
        }
    }

    func fail(_ error: any Error) {
        state.withLock { state in
            if state.failure == nil { state.failure = error }
            changed.broadcast()
        }
    }
}

final class ConformSink: DeliverySink {
    private enum Home: Sendable {
        case thread(pthread_t)
        case queue(DispatchSpecificKey<Bool>)
    }

    private let number: Int
    private let context: Int
    private let shows: Bool
    private let recorder: ConformRecorder
    private let home: Home
    private let subscription = Guarded<(any DriverSubscription)?>("conform subscription", nil)

    /// Makes a sink. Call it in the delivery context.
    /// - Parameter shows: whether callbacks can read rows.
    init(_ number: Int, in context: Int, _ site: DeliverySite, shows: Bool, _ recorder: ConformRecorder) {
        (self.number, self.context, self.shows, self.recorder) = (number, context, shows, recorder)
        switch site {
        case .runLoop: home = .thread(pthread_self())
        case .queue(let queue):
            let key = DispatchSpecificKey<Bool>()
            queue.setSpecific(key: key, value: true)
            home = .queue(key)
        }
    }

    private var isHome: Bool {
        switch home {
        case .thread(let thread): pthread_equal(pthread_self(), thread) != 0
        case .queue(let key): DispatchQueue.getSpecific(key: key) == true
        }
    }

    /// Sets the subscription that rows are read through. Reads the rows now if deliveries came within `subscribe`. Call
    /// it in the delivery context.
    func attach(_ subscription: any DriverSubscription) {
        self.subscription.withLock { $0 = subscription }
        let heard = recorder.heard(number).deliveries
        if !heard.isEmpty, heard.allSatisfy({ $0.shown == nil }) { recorder.end(number, in: -1, shown: rows()) }
    }

    /// Releases the subscription, which holds this sink.
    func detach() { subscription.withLock { $0 = nil } }

    func deliver(_ delivery: borrowing Delivery) {
        recorder.begin(number, in: context, isThere: isHome, delivery)
        recorder.end(number, in: context, shown: rows())
    }

    func fail(_ error: any Error) { recorder.fail(error) }

    private func rows() -> [Item]? {
        guard shows, let subscription = subscription.withLock({ $0 }) else { return nil }
        var items: [Item] = []
        do { try subscription.forEachShown(0..<Int.max) { items.append($0) } } catch {
            recorder.fail(error)
            return nil
        }
        return items
    }
}
