// What is posted, who may post it, and who is told. No state that changes.
import Dispatch

/// A notification that is identified by its type: what it carries are its properties, and who handles it switches over
/// types instead of comparing names.
///
///     struct TideTurned: TypedNotification {
///         typealias Poster = Harbour
///         let heightMm: Int
///     }
///
/// The type is the static one, that of the expression given to `post` or `enqueue`. Between structures there is no
/// difference. A class that notifications inherit from is a type of its own beside theirs: who subscribes to it is told of
/// what is posted *as* that class, and who subscribes to one that inherits from it of what is posted as that one.
///
///     class Weather: TypedNotification, @unchecked Sendable { typealias Poster = Harbour }
///     final class Storm: Weather, @unchecked Sendable {}
///
///     center.post(Storm(), by: harbour)             // told to subscribers of Storm, not to those of Weather
///     center.post(Storm() as Weather, by: harbour)  // told to subscribers of Weather, as a Storm; not to those of Storm
public protocol TypedNotification: Sendable {
    /// The class whose instances post it. Nobody else can: posting takes one of them.
    associatedtype Poster: AnyObject
}

/// Somebody who is told of notifications. Held weakly: a subscriber that is gone is told nothing, and need not say so.
public protocol NotificationSubscriber: AnyObject {
    /// Called where the subscription says, for every notification of a type subscribed to.
    ///
    ///     switch notification {
    ///     case let turned as TideTurned: show(turned.heightMm)
    ///     default: break
    ///     }
    func handle(_ notification: any TypedNotification)
}

/// A subscriber that is told who has posted, too.
public protocol PosterSubscriber: NotificationSubscriber {
    /// Called where the subscription says, for every notification of a type subscribed to.
    ///
    ///     switch notification {
    ///     case let turned as TideTurned where poster.isIdentical(to: home): show(turned.heightMm)
    ///     default: break
    ///     }
    func handle(_ notification: any TypedNotification, from poster: NotificationPoster)
}

extension PosterSubscriber {
    /// For a call by hand: from nobody.
    public func handle(_ notification: any TypedNotification) { handle(notification, from: NotificationPoster(nil)) }
}

/// Who has posted a notification. Kept until the subscriber has been told, so it cannot be taken for another one.
///
/// For any thread, whatever the class. Unchecked because it can be compared only, and had only where the class is `Sendable`.
public struct NotificationPoster: @unchecked Sendable {
    /// Never used but for its identity, or as what is Sendable.
    let object: AnyObject?

    init(_ object: AnyObject?) { self.object = object }

    /// Whether it is this very object. O(1).
    public func isIdentical(to object: AnyObject) -> Bool { self.object === object }

    /// The poster, where it is of this class. O(1).
    public func object<Poster: AnyObject & Sendable>(as type: Poster.Type) -> Poster? { object as? Poster }
}

/// Where a subscriber is told.
public enum NotificationPlace: Sendable {
    /// On the thread that posts, before `post` returns. No lock is held meanwhile.
    case poster
    /// On a dispatch queue, in the order of posting if the queue is serial. Posting does not wait for it.
    case queue(DispatchQueue)
    /// On the run loop of the thread that subscribes, in its common modes and in the order of posting. Posting does not
    /// wait for it; something must run the loop.
    case runLoop
}
