// Publishers of a store, for Combine or OpenCombine.
import StillingWell
import StillingWellSync

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Publishes changes on the scheduler of the connection that it belongs to.
///
/// Subscribe on that scheduler. Values arrive there in separate deliveries, never from inside `subscribe`. With
/// `receive(on:)`, `map` to Sendable values first: live objects and results must stay. Demand is respected by
/// coalescing: without demand nothing is queued, and the next value covers all changes meanwhile. Cancelling ends the
/// subscription at once. Closing the store finishes it.
public struct LivePublisher<Output>: Publisher {
    /// Error of a query that cannot be maintained, an object that cannot be read, or an observation that is not
    /// possible.
    public typealias Failure = StoreError

    private let makeFeed: () throws -> Feed<Output>
    private var tokenMade: (NotificationToken) -> Void = { _ in }

    /// For targets of this package that publish other changes.
    /// - Parameter makeFeed: called for each subscriber.
    package init(_ makeFeed: @escaping () throws -> Feed<Output>) { self.makeFeed = makeFeed }

    // MARK: Token

    /// Returns this publisher with `body` called for each subscription's token. `body` runs on the connection's
    /// scheduler before the first value. Use the token for writes that should not be reported, such as changes that a
    /// table already shows.
    ///
    ///     notes.changePublisher().handleToken { token = $0 }.sink { … }
    ///     try connection.write(withoutNotifying: [token]) { … }
    ///
    /// After the token is invalidated no changes are noticed, and no completion comes before the store is closed. To
    /// end the subscription, cancel it. Holding the token does not keep it alive.
    public func handleToken(_ body: @escaping (NotificationToken) -> Void) -> LivePublisher {
        var publisher = self
        let earlier = tokenMade
        publisher.tokenMade = { token in
            earlier(token)
            body(token)
        }
        return publisher
    }

    /// Same as `handleToken`, but stores the token of the last subscription in a property.
    /// - Parameter object: owner of the property, held weakly.
    public func saveToken<Owner: AnyObject>(
        on object: Owner, at keyPath: ReferenceWritableKeyPath<Owner, NotificationToken?>
    ) -> LivePublisher { handleToken { [weak object] token in object?[keyPath: keyPath] = token } }

    // MARK: Subscribing

    /// Subscribes. On the connection's scheduler.
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
/// Unchecked because what is not behind the lock is used on the connection's scheduler alone.
private final class LiveSubscription<Downstream: Subscriber>: Subscription, @unchecked Sendable
where Downstream.Failure == StoreError {
    // Unchecked because a subscriber may be of any type. The connection's scheduler uses it. Cancelling releases it.
    private struct Ends: @unchecked Sendable {
        let feed: Feed<Downstream.Input>
        let downstream: Downstream
    }

    private struct State {
        var demand = Subscribers.Demand.none
        var ends: Ends?
    }

    /// Not held while the subscriber is called.
    private let state: Guarded<State>
    private var isFlushing = false
    private var completion: Subscribers.Completion<StoreError>?

    let combineIdentifier = CombineIdentifier()

    init(_ feed: Feed<Downstream.Input>, _ downstream: Downstream) {
        state = Guarded("demand", State(ends: Ends(feed: feed, downstream: downstream)))
    }

    func start(tokenMade: (NotificationToken) -> Void) throws {
        // The subscriber may have cancelled already.
        guard let ends = state.withLock({ $0.ends }) else { return }
        try ends.feed.start(
            tokenMade: tokenMade, changed: { [weak self] in self?.flush() }, ended: { [weak self] in self?.end($0) })
    }

    /// Any thread.
    func request(_ more: Subscribers.Demand) {
        let ends = state.withLock { state in
            state.demand += more
            return state.ends
        }
        ends?.feed.soon { [weak self] in self?.flush() }
    }

    private func flush() {
        if isFlushing { return }
        isFlushing = true
        defer { isFlushing = false }
        while let ends = state.withLock({ $0.demand > .none ? $0.ends : nil }), let value = ends.feed.take() {
            state.withLock { $0.demand -= 1 }
            let more = ends.downstream.receive(value)
            state.withLock { $0.demand += more }
        }
        complete()
    }

    private func end(_ error: StoreError?) {
        completion = error.map { .failure($0) } ?? .finished
        flush()
        complete()
    }

    /// Sends the completion, if the feed has ended. Values without demand by then are dropped.
    private func complete() { if let completion { takeApart()?.receive(completion: completion) } }

    /// Ends the subscription. Returns the subscriber to the first caller only.
    private func takeApart() -> Downstream? {
        let ends = state.withLock { $0.ends.take() }
        ends?.feed.cancel()
        return ends?.downstream
    }

    /// Cancels. Any thread. A value whose delivery has begun still arrives.
    func cancel() { _ = takeApart() }
}
