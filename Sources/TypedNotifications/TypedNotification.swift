// Notifications, their posters and their subscribers. No mutable state.
import Dispatch

/// A notification identified by its type, with its content as properties. Handlers switch over types instead of
/// comparing names.
///
///     struct TideTurned: TypedNotification {
///         typealias Poster = Harbour
///         let heightMm: Int
///     }
///
/// The type is the static type of the expression passed to `post` or `enqueue`. For structures there is no difference.
/// A class and its subclasses are separate types: subscribers of a class receive notifications posted *as* that class,
/// subscribers of a subclass those posted as the subclass.
///
///     class Weather: TypedNotification, @unchecked Sendable { typealias Poster = Harbour }
///     final class Storm: Weather, @unchecked Sendable {}
///
///     center.post(Storm(), by: harbour)             // told to subscribers of Storm, not to those of Weather
///     center.post(Storm() as Weather, by: harbour)  // told to subscribers of Weather, as a Storm; not to those of Storm
public protocol TypedNotification: Sendable {
    /// Class whose instances post the notification. `post` requires an instance.
    associatedtype Poster: AnyObject
}

/// A receiver of notifications. Held weakly: a released subscriber receives nothing and need not unsubscribe.
public protocol NotificationSubscriber: AnyObject {
    /// Called in the place of the subscription, for every notification of its type and, if it names one, its poster.
    /// A `PosterSubscriber` is called with the poster instead.
    ///
    ///     switch notification {
    ///     case let turned as TideTurned: show(turned.heightMm)
    ///     default: break
    ///     }
    func handle(_ notification: any TypedNotification)
}

/// A subscriber that also receives the poster.
public protocol PosterSubscriber: NotificationSubscriber {
    /// Called in the place of the subscription, for every notification of its type and, if it names one, its poster.
    ///
    ///     switch notification {
    ///     case let turned as TideTurned where poster.isIdentical(to: home): show(turned.heightMm)
    ///     default: break
    ///     }
    func handle(_ notification: any TypedNotification, from poster: NotificationPoster)
}

extension PosterSubscriber {
    /// For direct calls, which have no poster.
    public func handle(_ notification: any TypedNotification) { handle(notification, from: NotificationPoster(nil)) }
}

/// Poster of a notification. Retained until the subscriber was notified, so that no other object has its address.
///
/// Any thread. Unchecked because it can only be compared; the object itself is returned only if its class is `Sendable`.
/// The last release, and so `deinit`, may come in the subscriber's place.
public struct NotificationPoster: @unchecked Sendable {
    /// Used only by its identity, or as a Sendable type.
    let object: AnyObject?

    init(_ object: AnyObject?) { self.object = object }

    /// Returns whether the poster is this object. O(1).
    public func isIdentical(to object: AnyObject) -> Bool { self.object === object }

    /// Returns the poster if it is of this class, else nil. O(1).
    public func object<Poster: AnyObject & Sendable>(as type: Poster.Type) -> Poster? { object as? Poster }
}

/// The place where a subscriber is called.
public enum NotificationPlace: Sendable {
    /// On the thread that posts, before `post` returns. The center holds no lock meanwhile.
    case poster
    /// On a dispatch queue, in the order of posting if the queue is serial. Posting does not wait for it.
    case queue(DispatchQueue)
    /// On the run loop of the thread that subscribes, in its common modes and in the order of posting. Posting does not
    /// wait for it; something must run the loop.
    case runLoop
}
