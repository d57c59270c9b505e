// What is posted, who may post it, and who is told. No state.
import Dispatch

/// A notification that is identified by its type: what it carries are its properties, and who handles it switches over
/// types instead of comparing names.
///
///     struct TideTurned: TypedNotification {
///         typealias Poster = Harbour
///         let heightMm: Int
///     }
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
