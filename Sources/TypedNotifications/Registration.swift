// One subscriber's interest in one type. Immutable but for `isActive`, what waits for a run loop and the weak
// references, which only the runtime clears: any thread.
import Dispatch
import StillingWellSync
import Synchronization

final class Registration: Sendable {
    /// What stands behind it: an object that is held weakly, or a block that is held until the subscription ends.
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
    /// The only poster that counts; nil counts all.
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

    /// Whether it belongs to nobody any more, and may be dropped.
    var isOver: Bool {
        if !isActive.load(ordering: .acquiring) { return true }
        if case .object(let subscriber) = target, subscriber.object == nil { return true }
        // An object that comes to lie at the same address is another poster.
        if let poster, poster.object == nil { return true }
        return false
    }

    func isOf(_ subscriber: any NotificationSubscriber) -> Bool {
        if case .object(let mine) = target { return mine.object === subscriber }
        return false
    }

    /// No call starts after this has returned. One that has started goes on.
    func end() {
        isActive.store(false, ordering: .sequentiallyConsistent)
        if case .runLoop(let loop) = way { loop.invalidate() }
    }

    /// Hands a notification over, or tells it at once where that is the way.
    func send(_ notification: any TypedNotification, from poster: AnyObject) {
        if let wanted = self.poster, wanted.object !== poster { return }
        // On its way somewhere else it is kept only for who wants it.
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

/// An object that somebody refers to without keeping it.
///
/// Unchecked because the object's class may be any: only its identity is asked for.
final class WeakObject: @unchecked Sendable {
    private(set) weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
}

/// A subscriber that somebody refers to without keeping it.
///
/// Unchecked because subscribers are of any class: they are called where they asked to be.
final class WeakSubscriber: @unchecked Sendable {
    private(set) weak var object: (any NotificationSubscriber)?
    /// The same object, if it wants to know who posts. Asked once: a cast costs more than telling.
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
