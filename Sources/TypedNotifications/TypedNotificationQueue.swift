// The notification queue of one thread. Notifications wait for the run loop's next pass or for it to be idle, and those
// of one type or poster are coalesced. No lock: used on its thread only.
import CoreFoundation
import Foundation
import StillingWellBasis
import StillingWellSync

/// The time at which a queued notification is posted.
public enum NotificationTiming: Sendable, Hashable {
    /// Before `enqueue` returns. If the loop is in another mode, as soon as possible in a requested one.
    case now
    /// In the run loop's next pass in a requested mode.
    case asSoonAsPossible
    /// When the run loop is idle in a requested mode and about to sleep.
    case whenIdle
}

/// The waiting notifications that a new one replaces. With both options, those of the same type *and* poster.
public struct NotificationCoalescing: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Notifications of the same type, from any poster.
    public static let onType = NotificationCoalescing(rawValue: 1)
    /// Notifications of the same poster, of any type.
    public static let onPoster = NotificationCoalescing(rawValue: 2)
}

/// Delays and coalesces the notifications of one thread, and posts them through a center on that thread's run loop.
///
/// Belongs to the thread that made it, whose run loop must be run. Enqueuing or dequeuing on another thread stops the
/// program with a message. The cost of enqueuing does not depend on the number of waiting notifications that are kept.
public final class TypedNotificationQueue {
    private let center: TypedNotificationCenter
    private let loop: CFRunLoop
    private var pending = PendingNotifications()
    private var outlets: [RunLoop.Mode: Outlet] = [:]

    /// Queue of the current thread, which posts through the default center.
    public static var current: TypedNotificationQueue {
        let key = "TypedNotifications.queue"
        if let known = Thread.current.threadDictionary[key] as? TypedNotificationQueue { return known }
        let queue = TypedNotificationQueue()
        Thread.current.threadDictionary[key] = queue
        return queue
    }

    /// Makes another queue of the current thread.
    public init(_ center: TypedNotificationCenter = .default) {
        self.center = center
        loop = CFRunLoopGetCurrent()
    }

    deinit { for outlet in outlets.values { outlet.end() } }

    /// Number of waiting notifications.
    public var count: Int { pending.count }

    /// Appends a notification, or posts it at once, and removes waiting ones that it coalesces with.
    /// - Parameters:
    ///   - coalescing: the waiting notifications to replace; `[]` for none.
    ///   - modes: run-loop modes in which it may be posted. Order is kept among notifications with the same timing and
    ///     modes.
    public func enqueue<Notification: TypedNotification>(
        _ notification: Notification, by poster: Notification.Poster, _ timing: NotificationTiming,
        coalescing: NotificationCoalescing = [.onType, .onPoster], modes: Set<RunLoop.Mode> = [.default]
    ) {
        checkThread()
        stopUnless(!modes.isEmpty, "a notification for no run-loop mode would never be posted: name one")
        let type = ObjectIdentifier(Notification.self)
        let replaced = pending.removeAll(matching: coalescing, type, ObjectIdentifier(poster))
        defer { withExtendedLifetime(replaced) {} }
        if timing == .now, isInOne(of: modes) { return center.post(notification, by: poster) }
        let timing = timing == .now ? .asSoonAsPossible : timing
        pending.append(.init(notification: notification, type: type, poster: poster, timing: timing, modes: modes))
        for mode in modes { outlet(mode).request(timing) }
    }

    /// Removes waiting notifications of a type and poster; nil means every poster.
    /// - Returns: the number removed.
    @discardableResult
    public func dequeue<Notification: TypedNotification>(
        _ type: Notification.Type, by poster: Notification.Poster? = nil
    ) -> Int {
        checkThread()
        let type = ObjectIdentifier(type)
        let removed =
            poster.map { pending.removeAll(matching: [.onType, .onPoster], type, ObjectIdentifier($0)) }
            ?? pending.removeAll(matching: .onType, type, type)
        return removed.count
    }

    /// Removes all waiting notifications of a poster.
    /// - Returns: the number removed.
    @discardableResult
    public func dequeue(by poster: AnyObject) -> Int {
        checkThread()
        return pending.removeAll(matching: .onPoster, ObjectIdentifier(poster), ObjectIdentifier(poster)).count
    }

    // MARK: Posting

    /// Posts the waiting notifications of a timing and a mode. Those added meanwhile wait for the next pass.
    private func post(_ timing: NotificationTiming, in mode: RunLoop.Mode) {
        let end = pending.addedCount
        while let entry = pending.takeFirst(timing, in: mode, before: end) {
            // A handler may run the loop itself. That pass then posts the rest.
            if pending.contains(timing, in: mode) { outlet(mode).request(timing) }
            center.deliver(entry.notification, type: entry.type, from: entry.poster)
        }
        if pending.contains(timing, in: mode) { outlet(mode).request(timing) }
    }

    private func isInOne(of modes: Set<RunLoop.Mode>) -> Bool {
        // Outside of the loop there is nothing to wait for.
        if CFRunLoopCopyCurrentMode(loop) == nil { return true }
        return modes.contains { outlet($0).isServed }
    }

    private func outlet(_ mode: RunLoop.Mode) -> Outlet {
        if let known = outlets[mode] { return known }
        let outlet = Outlet(mode) { [weak self] timing in self?.post(timing, in: mode) }
        outlets[mode] = outlet
        return outlet
    }

    private func checkThread() {
        stopUnless(
            CFRunLoopGetCurrent() === loop,
            "a notification queue was used on another thread than its own: use TypedNotificationQueue.current there")
    }
}
