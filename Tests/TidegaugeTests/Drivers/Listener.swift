// A subscription of a conformance check. It records its deliveries, and whether they came on the right thread or queue.
//
// `lock` guards all mutable properties. `changed` is signalled after a delivery or an error.
import Dispatch
import Foundation
import Glibc
import StillingWellSync
import TidegaugeDriver

@testable import TidegaugeTrialRunner

final class Listener: DeliverySink, @unchecked Sendable {
    struct Heard {
        var version: Int64?
        var isInitial: Bool
    }

    let query: Query
    private let site: DeliveryContext
    private let lock = TracedMutex("listener")
    private let changed: TracedCondition
    private var heard: [Heard] = []
    private var problems: [String] = []
    private var isCalled = false
    private let home: Home
    private var subscription: (any DriverSubscription)?
    /// Called in every delivery.
    private let reaction: (@Sendable (Listener) -> Void)?

    /// Thread or queue on which callbacks must run.
    private enum Home {
        case thread(pthread_t)
        case queue(DispatchSpecificKey<Bool>)

        var isHere: Bool {
            switch self {
            case .thread(let thread): pthread_equal(pthread_self(), thread) != 0
            case .queue(let key): DispatchQueue.getSpecific(key: key) == true
            }
        }
    }

    private init(_ query: Query, _ site: DeliveryContext, _ home: Home, _ reaction: (@Sendable (Listener) -> Void)?) {
        self.query = query
        self.site = site
        self.home = home
        self.reaction = reaction
        changed = TracedCondition("listener", lock)
    }

    /// Subscribes in the delivery context.
    static func subscribe(
        _ query: Query, _ site: DeliveryContext, _ store: any DrivenStore, _ patienceNs: Int64,
        reaction: (@Sendable (Listener) -> Void)? = nil
    ) throws -> Listener {
        let place = site.deliverySite
        return try site.run(timeoutNs: patienceNs) {
            let home: Home
            switch place {
            case .runLoop: home = .thread(pthread_self())
            case .queue(let queue):
                let key = DispatchSpecificKey<Bool>()
                queue.setSpecific(key: key, value: true)
                home = .queue(key)
            }
            let listener = Listener(query, site, home, reaction)
            let subscription = try store.subscribe(to: query, at: place, sink: Way(listener))
            listener.lock.withLock { listener.subscription = subscription }
            return listener
        }
    }

    deinit { subscription?.cancel() }

    /// Passes deliveries to a listener without retaining it: the listener holds the subscription, which holds this.
    private final class Way: DeliverySink, @unchecked Sendable {
        private weak var listener: Listener?

        init(_ listener: Listener) { self.listener = listener }

        func deliver(_ delivery: borrowing Delivery) { listener?.deliver(delivery) }
        func fail(_ error: any Error) { listener?.fail(error) }
    }

    func deliver(_ delivery: borrowing Delivery) {
        let heard = Heard(version: delivery.version, isInitial: delivery.isInitial)
        lock.withLock {
            if !home.isHere { problems.append("a delivery came elsewhere than on its site") }
            if isCalled { problems.append("a delivery came within another") }
            isCalled = true
            self.heard.append(heard)
        }
        reaction?(self)
        lock.withLock {
            isCalled = false
            changed.broadcast()
        }
    }

    func fail(_ error: any Error) {
        lock.withLock {
            problems.append("the engine gave up: \(error)")
            changed.broadcast()
        }
    }

    func cancel() { lock.withLock { subscription }?.cancel() }

    /// Number of deliveries that have begun.
    var count: Int { lock.withLock { heard.count } }

    func currentItems(_ patienceNs: Int64) throws -> [Item] {
        let subscription = lock.withLock { self.subscription }!
        return try site.run(timeoutNs: patienceNs) { try subscription.currentItems() }
    }

    /// Waits until the deliveries satisfy `isDone`.
    /// - Returns: false if they do not by the deadline.
    func wait(untilNs deadlineNs: Int64, _ isDone: ([Heard]) -> Bool) -> Bool {
        lock.withLock {
            while !isDone(heard) {
                if !changed.wait(untilNs: deadlineNs) { return isDone(heard) }
            }
            return true
        }
    }

    /// Waits for a delivery at `version` or later.
    func waitFor(_ version: Int64, untilNs deadlineNs: Int64) -> Bool {
        wait(untilNs: deadlineNs) { ($0.last?.version ?? .min) >= version }
    }

    /// Problems of the sequence of deliveries.
    var complaints: [String] {
        lock.withLock {
            var complaints = problems
            if let first = heard.first, !first.isInitial { complaints.append("the first delivery is no initial one") }
            if heard.dropFirst().contains(where: \.isInitial) { complaints.append("an initial delivery came again") }
            let versions = heard.map { $0.version ?? .min }
            if versions.contains(.min) { complaints.append("a delivery has no version") }
            if zip(versions, versions.dropFirst()).contains(where: { $0 > $1 }) {
                complaints.append("versions went back: \(versions)")
            }
            return complaints
        }
    }
}
