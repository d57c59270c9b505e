// A pull subscription: it signals that something changed, and the consumer takes the changes when it wants them.
// Changes of a query lead from the rows taken last to the newest ones. Publishers with demand need this.
import StillingWellSync

/// For other targets of this package, which offer changes as publishers. On the connection's scheduler, except for
/// `soon` and `cancel`.
///
/// Unchecked because mutable state is used on the connection's scheduler only, except for the token, which has a lock.
package final class Feed<Output>: @unchecked Sendable {
    private let connection: Connection
    private let subscribe: (Feed) throws -> NotificationToken
    /// Returns the changes since the last call, or nil if there are none.
    package let take: () -> Output?
    /// Token of the subscription. Made on the scheduler; any thread may invalidate it.
    private let token = Guarded<NotificationToken?>("feed", nil)
    private var changed: (() -> Void)?
    private var ended: ((StoreError?) -> Void)?

    /// - Parameter subscribe: starts the subscription. Its callbacks hold the feed weakly and report changes and the
    ///   end to it.
    init(
        _ connection: Connection, take: @escaping () -> Output?,
        _ subscribe: @escaping (Feed) throws -> NotificationToken
    ) {
        self.connection = connection
        self.take = take
        self.subscribe = subscribe
    }

    /// Begins the subscription.
    /// - Parameters:
    ///   - changed: called when `take` may return something.
    ///   - ended: called when nothing more will come. Earlier events of an object or store can still be taken.
    ///   - tokenMade: called once with the token, before any other callback.
    package func start(
        tokenMade: (NotificationToken) -> Void, changed: @escaping () -> Void, ended: @escaping (StoreError?) -> Void
    ) throws {
        self.changed = changed
        self.ended = ended
        let token = try subscribe(self)
        self.token.withLock { $0 = token }
        tokenMade(token)
        connection.core.whenClosing(ObjectIdentifier(self)) { [weak self] in self?.soon { self?.end(nil) } }
    }

    func tellChanged() { changed?() }

    func end(_ error: StoreError?) {
        ended?(error)
        cancel()
    }

    /// Runs `body` on the connection's scheduler in a later delivery. Any thread.
    package func soon(_ body: @escaping () -> Void) {
        try? connection.live().mailbox.request(.run(DeliveredBlock(body)))
    }

    package func cancel() {
        token.withLock { $0 }?.invalidate()
        connection.core.forgetClosing(ObjectIdentifier(self))
    }

    deinit { cancel() }
}

extension LiveObject {
    package func makeFeed(keyPaths: [PartialKeyPath<Self>]?) throws -> Feed<ObjectChange<Self>> {
        guard let connection else { throw StoreError.notStored(type: "\(Self.self)") }
        var pending: ObjectEvent?
        let take = { () -> ObjectChange<Self>? in
            defer { pending = nil }
            switch pending {
            case .changed(let changes): return .change(self, changes)
            case .deleted: return .deleted
            case nil: return nil
            }
        }
        return Feed(connection, take: take) { feed in
            guard let binding = self.binding else { throw StoreError.notStored(type: "\(Self.self)") }
            let properties = try self.observed(keyPaths, binding)
            return try binding.connection.observe(binding, properties, madeAt: "a publisher of an object") {
                [weak feed] change in
                guard let feed else { return }
                switch change {
                case .change(let changes):
                    pending = pending?.merged(with: .changed(changes)) ?? .changed(changes)
                    feed.tellChanged()
                case .deleted:
                    pending = .deleted
                    feed.tellChanged()
                    feed.end(nil)
                case .failed(let error): feed.end(error)
                }
            }
        }
    }

    /// The values of one property: the current one, then newer ones. Values that were replaced before they were taken
    /// are skipped.
    package func makeFeed<Value: StorableValue>(of keyPath: KeyPath<Self, Value>) throws -> Feed<Value> {
        guard let connection else { throw StoreError.notStored(type: "\(Self.self)") }
        var reported: Value?
        // Set when the object cannot be read. Reading its property would end the process.
        var hasFailed = false
        let take = { () -> Value? in
            guard !hasFailed, !self.isInvalidated else { return nil }
            let value = self[keyPath: keyPath]
            if let reported, reported._columnValue == value._columnValue { return nil }
            reported = value
            return value
        }
        return Feed(connection, take: take) { feed in
            try self.observe(keyPaths: [keyPath]) { [weak feed] change in
                switch change {
                case .change: feed?.tellChanged()
                case .deleted: feed?.end(nil)
                case .error(let error):
                    hasFailed = true
                    feed?.end(error)
                }
            }
        }
    }
}

extension Connection {
    package func makeFeed() -> Feed<StoreNotification> {
        var pending: StoreNotification?
        return Feed(self, take: { pending.take() }) { feed in
            try self.observe { [weak feed] notification, _ in
                pending = notification
                feed?.tellChanged()
            }
        }
    }
}
