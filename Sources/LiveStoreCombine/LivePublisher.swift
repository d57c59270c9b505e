// Publishers of a store. Whichever module offers Combine, the code is the same.
//
// `lock` guards demand and whether the subscription is over; the subscriber is called without it, on the connection's
// scheduler.
import LiveStore
import TracedSync

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Publishes what changes, on the scheduler of the connection that it belongs to.
///
/// Subscribe there. Values arrive there, each in a turn of the scheduler and never from inside `subscribe`; for somewhere
/// else `receive(on:)` what is safe to carry: live objects and results are not, use `map` before. Demand is respected by
/// coalescing: while there is none nothing is queued, and what comes next is all that happened meanwhile as one value.
/// Cancelling ends the subscription at once; closing the store finishes it.
public struct LivePublisher<Output>: Publisher {
    /// What the store says of a query that it cannot keep, or of something that cannot be observed.
    public typealias Failure = StoreError

    let makeFeed: () throws -> Feed<Output>

    /// On the connection's scheduler.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == StoreError {
        do {
            let subscription = LiveSubscription(try makeFeed(), subscriber)
            subscriber.receive(subscription: subscription)
            try subscription.start()
        } catch {
            subscriber.receive(subscription: Subscriptions.empty)
            let other = StoreError.storage(operation: "subscribe", code: 0, reason: "\(error)")
            subscriber.receive(completion: .failure(error as? StoreError ?? other))
        }
    }
}

/// One subscriber of one feed.
private final class LiveSubscription<Downstream: Subscriber>: Subscription, @unchecked Sendable
where Downstream.Failure == StoreError {
    private let lock = TracedMutex("demand")
    private var demand = Subscribers.Demand.none
    private var isOver = false
    // On the connection's scheduler, but for `cancel`, after which nobody reads it.
    private var downstream: Downstream?
    private var feed: Feed<Downstream.Input>?
    private var isFlushing = false
    private var completion: Subscribers.Completion<StoreError>?

    let combineIdentifier = CombineIdentifier()

    init(_ feed: Feed<Downstream.Input>, _ downstream: Downstream) {
        self.feed = feed
        self.downstream = downstream
    }

    func start() throws {
        // The subscriber may have cancelled already.
        guard let feed = lock.withLock({ feed }) else { return }
        try feed.start { [weak self] in
            self?.flush()
        } ended: { [weak self] error in
            self?.end(error)
        }
    }

    /// Any thread.
    func request(_ more: Subscribers.Demand) {
        let feed = lock.withLock {
            demand += more
            return isOver ? nil : self.feed
        }
        feed?.soon { [weak self] in self?.flush() }
    }

    /// Hands out what there is and is asked for.
    private func flush() {
        if isFlushing { return }
        isFlushing = true
        defer { isFlushing = false }
        while let (feed, downstream) = next(), let value = feed.take() {
            lock.withLock { demand -= 1 }
            let more = downstream.receive(value)
            lock.withLock { demand += more }
        }
        complete()
    }

    private func next() -> (Feed<Downstream.Input>, Downstream)? {
        lock.withLock {
            guard !isOver, demand > .none, let feed, let downstream else { return nil }
            return (feed, downstream)
        }
    }

    private func end(_ error: StoreError?) {
        completion = error.map { .failure($0) } ?? .finished
        flush()
        complete()
    }

    /// Says that it is over, if it is. What nobody has asked for by then is not handed out.
    private func complete() {
        guard let completion, let downstream = takeApart() else { return }
        downstream.receive(completion: completion)
    }

    /// Ends everything, once.
    @discardableResult
    private func takeApart() -> Downstream? {
        let (feed, downstream) = lock.withLock { () -> (Feed<Downstream.Input>?, Downstream?) in
            defer {
                isOver = true
                self.feed = nil
                self.downstream = nil
            }
            return (self.feed, self.downstream)
        }
        feed?.cancel()
        return downstream
    }

    /// Any thread; no value arrives that has not begun to.
    func cancel() { takeApart() }
}
