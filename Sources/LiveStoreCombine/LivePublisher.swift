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
    /// What the store says of a query that it cannot keep, of an object that it cannot read, or of something that cannot be
    /// observed.
    public typealias Failure = StoreError

    private let makeFeed: () throws -> Feed<Output>
    private var tokenMade: (NotificationToken) -> Void = { _ in }

    /// For targets of this package that publish changes of their own.
    /// - Parameter makeFeed: called for each subscriber.
    package init(_ makeFeed: @escaping () throws -> Feed<Output>) { self.makeFeed = makeFeed }

    // MARK: Its token

    /// This publisher, with the token of each subscription given to `body`, on the connection's scheduler and before the
    /// first value: for writes that are not to come back, as those that a table has shown already.
    ///
    ///     notes.changePublisher().handleToken { token = $0 }.sink { … }
    ///     try connection.write(withoutNotifying: [token]) { … }
    ///
    /// The subscription ends when it is cancelled, or the token invalidated; keeping the token does not keep it.
    public func handleToken(_ body: @escaping (NotificationToken) -> Void) -> LivePublisher {
        var publisher = self
        let earlier = tokenMade
        publisher.tokenMade = { token in
            earlier(token)
            body(token)
        }
        return publisher
    }

    /// As `handleToken`, with the token of the last subscription kept in a property.
    /// - Parameter object: whose property it is; held weakly.
    public func saveToken<Owner: AnyObject>(
        on object: Owner, at keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
    ) -> LivePublisher {
        handleToken { [weak object] token in object?[keyPath: keyPath] = token }
    }

    // MARK: Subscribing

    /// On the connection's scheduler.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == StoreError {
        do {
            let subscription = LiveSubscription(try makeFeed(), subscriber)
            subscriber.receive(subscription: subscription)
            try subscription.start(tokenMade: tokenMade)
        } catch {
            subscriber.receive(subscription: Subscriptions.empty)
            let other = StoreError.storage(operation: "subscribe", code: 0, reason: "\(error)")
            subscriber.receive(completion: .failure(error as? StoreError ?? other))
        }
    }
}

/// One subscriber of one feed.
///
/// Unchecked because subscribers are of any type: the connection's scheduler has them, and the lock whoever lets go of them.
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

    func start(tokenMade: (NotificationToken) -> Void) throws {
        // The subscriber may have cancelled already.
        guard let feed = lock.withLock({ feed }) else { return }
        try feed.start(
            tokenMade: tokenMade, changed: { [weak self] in self?.flush() }, ended: { [weak self] in self?.end($0) })
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
