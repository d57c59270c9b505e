// Publishers of a store. Whichever module offers Combine, the code is the same.
import StillingWell
import StillingWellSync

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
    ) -> LivePublisher { handleToken { [weak object] token in object?[keyPath: keyPath] = token } }

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
/// Unchecked because what is not behind the lock is used on the connection's scheduler alone.
private final class LiveSubscription<Downstream: Subscriber>: Subscription, @unchecked Sendable
where Downstream.Failure == StoreError {
    // Unchecked because subscribers are of any type: the connection's scheduler has them, and whoever cancels lets go of them.
    private struct Ends: @unchecked Sendable {
        let feed: Feed<Downstream.Input>
        let downstream: Downstream
    }

    private struct State {
        var demand = Subscribers.Demand.none
        var ends: Ends?
    }

    /// The subscriber is called without it.
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

    /// Says that it is over, if it is. What nobody has asked for by then is not handed out.
    private func complete() { if let completion { takeApart()?.receive(completion: completion) } }

    /// Ends everything, once.
    private func takeApart() -> Downstream? {
        let ends = state.withLock { $0.ends.take() }
        ends?.feed.cancel()
        return ends?.downstream
    }

    /// Any thread; no value arrives that has not begun to.
    func cancel() { _ = takeApart() }
}
