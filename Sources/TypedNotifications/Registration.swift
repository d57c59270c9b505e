// A subscription to one type. Immutable except `isActive`, the actions waiting for a run loop, and the weak references,
// which only the runtime clears. Any thread.
import Dispatch
import StillingWellSync
import Synchronization

final class Registration: Sendable {
    /// The receiver: an object that is held weakly, or a block.
    enum Target {
        case object(WeakSubscriber)
        case block(wantsPoster: Bool, @Sendable (any TypedNotification, NotificationPoster) -> Void)
    }

    private enum Way {
        case direct
        case queue(TracedQueue)
        case runLoop(RunLoopHandOff)
    }

    private let target: Target
    private let way: Way
    /// Only poster to report. nil for all.
    private let poster: WeakObject?
    private let isActive = Atomic<Bool>(true)

    init(_ target: Target, from poster: AnyObject?, on place: NotificationPlace) {
        self.target = target
        self.poster = poster.map(WeakObject.init)
        switch place {
        case .poster: way = .direct
        case .queue(let queue): way = .queue(TracedQueue(queue))
        case .runLoop: way = .runLoop(RunLoopHandOff("notifications"))
        }
    }

    /// Whether the subscription has ended, or its subscriber or poster was released.
    var isOver: Bool {
        if !isActive.load(ordering: .acquiring) { return true }
        if case .object(let subscriber) = target, subscriber.object == nil { return true }
        // No notification can be from a poster that was released.
        if let poster, poster.object == nil { return true }
        return false
    }

    func isOf(_ subscriber: any NotificationSubscriber) -> Bool {
        if case .object(let mine) = target { return mine.object === subscriber }
        return false
    }

    /// Ends the subscription. No call starts after this returns, except one that another thread was about to make. A
    /// running call continues.
    func end() {
        isActive.store(false, ordering: .sequentiallyConsistent)
        if case .runLoop(let loop) = way { loop.invalidate() }
    }

    /// Delivers a notification: directly, or through the queue or run loop.
    func send(_ notification: any TypedNotification, from poster: AnyObject) {
        if let wanted = self.poster, wanted.object !== poster { return }
        // Retained on the way only if the receiver takes the poster.
        let poster = NotificationPoster(wantsPoster ? poster : nil)
        switch way {
        case .direct: tell(notification, poster)
        case .queue(let queue): queue.async { [self] in tell(notification, poster) }
        case .runLoop(let loop): loop.perform { [self] in tell(notification, poster) }
        }
    }

    private var wantsPoster: Bool {
        switch target {
        case .object(let subscriber): subscriber.wantsPoster
        case .block(let wantsPoster, _): wantsPoster
        }
    }

    private func tell(_ notification: any TypedNotification, _ poster: NotificationPoster) {
        guard isActive.load(ordering: .sequentiallyConsistent) else { return }
        switch target {
        case .object(let subscriber): subscriber.tell(notification, poster)
        case .block(_, let block): block(notification, poster)
        }
    }
}

/// A weak reference to an object.
///
/// Unchecked because the object's class need not be Sendable: only its identity is used.
final class WeakObject: @unchecked Sendable {
    private(set) weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
}

/// A weak reference to a subscriber.
///
/// Unchecked because the subscriber's class need not be Sendable. It is called only in the place that it subscribed
/// for, which may be any thread that posts.
final class WeakSubscriber: @unchecked Sendable {
    private(set) weak var object: (any NotificationSubscriber)?
    /// Same object, if it takes the poster. Found once, because a cast is slow.
    private weak var posterSubscriber: (any PosterSubscriber)?
    let wantsPoster: Bool

    init(_ object: any NotificationSubscriber) {
        self.object = object
        posterSubscriber = object as? any PosterSubscriber
        wantsPoster = posterSubscriber != nil
    }

    func tell(_ notification: any TypedNotification, _ poster: NotificationPoster) {
        if wantsPoster {
            posterSubscriber?.handle(notification, from: poster)
        } else {
            object?.handle(notification)
        }
    }
}
