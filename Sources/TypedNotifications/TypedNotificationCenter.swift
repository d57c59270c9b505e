// The notification center: subscribers by type. Posting copies the subscribers of a type under the lock and calls them
// without it, so that a handler may post, subscribe and unsubscribe.
//
// No other lock is taken under the lock. Arrays of registrations are never changed in place during an iteration.
import StillingWellSync

/// Delivers notifications to the subscribers of their type.
///
/// Any thread. The center holds no lock while it calls a subscriber.
public final class TypedNotificationCenter: Sendable {
    /// Default center of the program.
    public static let `default` = TypedNotificationCenter()

    /// Registrations by type, in the order of subscribing.
    let registrations = Guarded<[ObjectIdentifier: [Registration]]>("notification centre", [:])

    /// Makes a separate center.
    public init() {}

    // MARK: Subscribing

    /// Subscribes an object to a type of notifications, until it unsubscribes, or it or `poster` is released. Each
    /// subscription is called, also a second one of the same object.
    /// - Parameters:
    ///   - subscriber: held weakly.
    ///   - poster: the only object whose notifications are delivered, held weakly; nil for all posters.
    ///   - place: where it is called. With `.runLoop`, subscribe on the thread to be called.
    public func subscribe<Notification: TypedNotification>(
        _ subscriber: any NotificationSubscriber, to type: Notification.Type, from poster: Notification.Poster? = nil,
        on place: NotificationPlace = .poster
    ) { add(Registration(.object(WeakSubscriber(subscriber)), from: poster, on: place), to: type) }

    /// Subscribes a block, while the returned subscription is held and `poster`, if given, exists. A block with two
    /// parameters also receives the poster.
    public func subscribe<Notification: TypedNotification>(
        to type: Notification.Type, from poster: Notification.Poster? = nil, on place: NotificationPlace = .poster,
        _ body: @escaping @Sendable (Notification) -> Void
    ) -> NotificationSubscription {
        added(type, from: poster, on: place, wantsPoster: false) { notification, _ in body(notification) }
    }

    /// Same as `subscribe` with a block of one parameter, with the poster as the second. The poster is retained until
    /// the block has been called, which may be on another thread. So its class must be `Sendable`.
    public func subscribe<Notification: TypedNotification>(
        to type: Notification.Type, from poster: Notification.Poster? = nil, on place: NotificationPlace = .poster,
        _ body: @escaping @Sendable (Notification, Notification.Poster) -> Void
    ) -> NotificationSubscription where Notification.Poster: Sendable {
        added(type, from: poster, on: place, wantsPoster: true) { notification, poster in
            if let poster = poster.object(as: Notification.Poster.self) { body(notification, poster) }
        }
    }

    /// Ends a subscriber's subscriptions to a type. No call starts after this returns, except one that another thread
    /// was about to make.
    public func unsubscribe(_ subscriber: any NotificationSubscriber, from type: (some TypedNotification).Type) {
        end(ObjectIdentifier(type)) { $0.isOf(subscriber) }
    }

    /// Ends all subscriptions of a subscriber. O(subscriptions to all types).
    public func unsubscribe(_ subscriber: any NotificationSubscriber) {
        for type in registrations.withLock({ Array($0.keys) }) { end(type) { $0.isOf(subscriber) } }
    }

    // MARK: Posting

    /// Delivers to all subscribers of the type, in the order of subscribing. Returns after those with place `.poster`
    /// were called, without waiting for the others. O(subscribers of the type).
    public func post<Notification: TypedNotification>(_ notification: Notification, by poster: Notification.Poster) {
        deliver(notification, type: ObjectIdentifier(Notification.self), from: poster)
    }

    func deliver(_ notification: any TypedNotification, type: ObjectIdentifier, from poster: AnyObject) {
        guard let told = registrations.withLock({ $0[type] }) else { return }
        var hasDead = false
        for registration in told {
            registration.send(notification, from: poster)
            if !hasDead, registration.isOver { hasDead = true }
        }
        if hasDead { end(type) { $0.isOver } }
    }

    // MARK: The list

    private func add(_ registration: Registration, to type: (some TypedNotification).Type) {
        registrations.withLock { $0[ObjectIdentifier(type), default: []].append(registration) }
    }

    private func added<Notification: TypedNotification>(
        _ type: Notification.Type, from poster: Notification.Poster?, on place: NotificationPlace, wantsPoster: Bool,
        _ body: @escaping @Sendable (Notification, NotificationPoster) -> Void
    ) -> NotificationSubscription {
        let block = Registration.Target.block(wantsPoster: wantsPoster) { notification, poster in
            if let notification = notification as? Notification { body(notification, poster) }
        }
        let registration = Registration(block, from: poster, on: place)
        add(registration, to: type)
        let type = ObjectIdentifier(type)
        return NotificationSubscription { [weak self] in self?.end(type) { $0 === registration } }
    }

    /// Removes registrations and ends them. What they hold is released without the lock.
    private func end(_ type: ObjectIdentifier, _ isMeant: (Registration) -> Bool) {
        guard let all = registrations.withLock({ $0[type] }) else { return }
        // Evaluated without the lock: reading a weak reference may release the last strong one.
        let ended = all.filter(isMeant)
        if ended.isEmpty { return }
        for registration in ended { registration.end() }
        let identities = Set(ended.map { ObjectIdentifier($0) })
        registrations.withLock { all in
            all[type]?.removeAll { identities.contains(ObjectIdentifier($0)) }
            if all[type]?.isEmpty == true { all[type] = nil }
        }
    }
}

/// The subscription of a block, which ends when it is released.
public final class NotificationSubscription: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends the subscription. No call starts after this returns, except one that another thread was about to make. Any
    /// thread; may be repeated.
    public func cancel() { end() }
}
