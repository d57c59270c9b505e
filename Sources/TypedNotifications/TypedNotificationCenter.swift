// The centre: who subscribes to which type. Posting takes the subscribers of a type under the lock and calls them
// without it, so a handler may post, subscribe and unsubscribe.
//
// The lock is a leaf; arrays of registrations are never changed in place while somebody goes through them.
import StillingWellSync

/// Brings notifications from those who post them to those who subscribed to their type.
///
/// Any thread. No lock is held while a subscriber is told, so whatever a handler waits for, the centre is not part of it.
public final class TypedNotificationCenter: Sendable {
    /// The centre of the program.
    public static let `default` = TypedNotificationCenter()

    /// By type, in the order of subscribing.
    let registrations = Guarded<[ObjectIdentifier: [Registration]]>("notification centre", [:])

    /// A centre of its own.
    public init() {}

    // MARK: Subscribing

    /// Has a subscriber told of a type of notifications until it is gone or unsubscribes. Subscribing twice is being told
    /// twice.
    /// - Parameters:
    ///   - subscriber: held weakly.
    ///   - poster: tells of this one's notifications only, by identity, and is held weakly; nil tells of everybody's.
    ///   - place: where it is told; with `.runLoop`, call this on the thread that is to be told.
    public func subscribe<Notification: TypedNotification>(
        _ subscriber: any NotificationSubscriber, to type: Notification.Type, from poster: Notification.Poster? = nil,
        on place: NotificationPlace = .poster
    ) { add(Registration(.object(WeakSubscriber(subscriber)), from: poster, on: place), to: type) }

    /// Has a block told, for as long as the subscription that is returned is kept. A block of two parameters is told who
    /// has posted as well.
    public func subscribe<Notification: TypedNotification>(
        to type: Notification.Type, from poster: Notification.Poster? = nil, on place: NotificationPlace = .poster,
        _ body: @escaping @Sendable (Notification) -> Void
    ) -> NotificationSubscription {
        added(type, from: poster, on: place, wantsPoster: false) { notification, _ in body(notification) }
    }

    /// As `subscribe` with a block of one parameter, with who has posted as the second. The poster is kept until the block
    /// has been called, which may be on another thread: its class is `Sendable`.
    public func subscribe<Notification: TypedNotification>(
        to type: Notification.Type, from poster: Notification.Poster? = nil, on place: NotificationPlace = .poster,
        _ body: @escaping @Sendable (Notification, Notification.Poster) -> Void
    ) -> NotificationSubscription where Notification.Poster: Sendable {
        added(type, from: poster, on: place, wantsPoster: true) { notification, poster in
            if let poster = poster.object(as: Notification.Poster.self) { body(notification, poster) }
        }
    }

    /// Ends a subscriber's subscriptions to a type. No call starts after this has returned.
    public func unsubscribe(_ subscriber: any NotificationSubscriber, from type: (some TypedNotification).Type) {
        end(ObjectIdentifier(type)) { $0.isOf(subscriber) }
    }

    /// Ends all of a subscriber's subscriptions. O(types).
    public func unsubscribe(_ subscriber: any NotificationSubscriber) {
        for type in registrations.withLock({ Array($0.keys) }) { end(type) { $0.isOf(subscriber) } }
    }

    // MARK: Posting

    /// Tells everybody who subscribed to the type: before it returns, those who are told where it is posted; the others
    /// in their own time. In the order of subscribing. O(subscribers of the type).
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

    /// Takes registrations out and ends them. What they hold is released without the lock.
    private func end(_ type: ObjectIdentifier, _ isMeant: (Registration) -> Bool) {
        guard let all = registrations.withLock({ $0[type] }) else { return }
        // Asked without the lock: a weak reference that is read may turn out to be the last strong one.
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

/// A block's subscription: it ends when this does.
public final class NotificationSubscription: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends it. No call starts after this has returned. Any thread; again is harmless.
    public func cancel() { end() }
}
