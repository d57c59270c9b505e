// Notifies observers that the rows of a query have changed, by Foundation's notification queue or by the typed one.
// Used on the thread of the observers, unless noted otherwise.
import Foundation
import TypedNotifications

protocol Announcer: AnyObject {
    /// Calls `body` for each notification about a query.
    /// - Returns: a closure that cancels it, from any thread.
    func observe(_ query: Int, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// Enqueues a notification about a query; it coalesces with a pending one.
    func announce(_ query: Int)
}

final class FoundationAnnouncer: Announcer {
    private static let changed = Notification.Name("rows changed")

    private let center = NotificationCenter()
    private let queue: NotificationQueue
    /// Senders by query. Notifications coalesce by the identity of the sender.
    private var senders: [Int: NSObject] = [:]

    init() { queue = NotificationQueue(notificationCenter: center) }

    func observe(_ query: Int, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let sender = senders[query] ?? NSObject()
        senders[query] = sender
        // Unsafe because the observer is not Sendable. The center removes it on any thread.
        nonisolated(unsafe) let observer = center.addObserver(forName: Self.changed, object: sender, queue: nil) { _ in
            body()
        }
        return { [center] in center.removeObserver(observer) }
    }

    func announce(_ query: Int) {
        guard let sender = senders[query] else { return }
        queue.enqueue(
            Notification(name: Self.changed, object: sender), postingStyle: .asap,
            coalesceMask: [.onName, .onSender], forModes: nil)
    }
}

final class TypedAnnouncer: Announcer {
    /// Poster of the notifications about a query.
    final class Rows {}

    struct RowsChanged: TypedNotification {
        typealias Poster = Rows
    }

    private let center = TypedNotificationCenter()
    private let queue: TypedNotificationQueue
    /// Posters by query.
    private var posters: [Int: Rows] = [:]

    init() { queue = TypedNotificationQueue(center) }

    func observe(_ query: Int, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let poster = posters[query] ?? Rows()
        posters[query] = poster
        let subscription = center.subscribe(to: RowsChanged.self, from: poster) { _ in body() }
        return { subscription.cancel() }
    }

    func announce(_ query: Int) {
        guard let poster = posters[query] else { return }
        queue.enqueue(RowsChanged(), by: poster, .asSoonAsPossible)
    }
}
