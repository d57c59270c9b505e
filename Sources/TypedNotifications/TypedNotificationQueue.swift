// The queue of one thread: notifications wait here for the end of the run loop's turn, or for it to be idle, and those
// that say the same become one. It has no lock: it is used on its thread only.
import CoreFoundation
import Foundation
import StillingWellBasis
import StillingWellSync

/// When a queued notification is posted.
public enum NotificationTiming: Sendable, Hashable {
    /// At once, before `enqueue` returns; in a mode it is not for, as soon as possible in one of its own.
    case now
    /// When the run loop comes round next.
    case asSoonAsPossible
    /// When the run loop has nothing to do and is about to sleep.
    case whenIdle
}

/// Which of the notifications that wait a new one replaces. With both, those of the same type *and* poster.
public struct NotificationCoalescing: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Those of the same type, whoever posts them.
    public static let onType = NotificationCoalescing(rawValue: 1)
    /// Those of the same poster, of whatever type.
    public static let onPoster = NotificationCoalescing(rawValue: 2)
}

/// Puts off and coalesces what one thread posts, and posts it through a centre on that thread's run loop.
///
/// Belongs to the thread it was made on, whose run loop something must run; a call from another thread is stopped with a
/// message that says so. Enqueuing costs the same however many wait.
public final class TypedNotificationQueue {
    private let center: TypedNotificationCenter
    private let loop: CFRunLoop
    private var pending = PendingNotifications()
    private var outlets: [RunLoop.Mode: Outlet] = [:]

    /// The queue of the current thread that posts through the default centre.
    public static var current: TypedNotificationQueue {
        let key = "TypedNotifications.queue"
        if let known = Thread.current.threadDictionary[key] as? TypedNotificationQueue { return known }
        let queue = TypedNotificationQueue()
        Thread.current.threadDictionary[key] = queue
        return queue
    }

    /// A further queue of the current thread.
    public init(_ center: TypedNotificationCenter = .default) {
        self.center = center
        loop = CFRunLoopGetCurrent()
    }

    deinit { for outlet in outlets.values { outlet.end() } }

    /// How many notifications wait.
    public var count: Int { pending.count }

    /// Adds a notification, at the end, in place of those that wait and say the same. O(1) and O(1) for each of those.
    /// - Parameters:
    ///   - coalescing: which of the waiting ones it replaces; `[]` replaces none.
    ///   - modes: it is posted while the run loop is in one of these. The order is kept among notifications for the
    ///     same modes.
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

    /// Takes back what waits of a type and poster; of every poster where it is nil.
    /// - Returns: how many were taken back.
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

    /// Takes back everything that a poster has waiting.
    /// - Returns: how many were taken back.
    @discardableResult
    public func dequeue(by poster: AnyObject) -> Int {
        checkThread()
        return pending.removeAll(matching: .onPoster, ObjectIdentifier(poster), ObjectIdentifier(poster)).count
    }

    // MARK: Posting

    /// Posts what waits of a timing, in a mode that the loop is in. What handlers add meanwhile waits for the next turn.
    private func post(_ timing: NotificationTiming, in mode: RunLoop.Mode) {
        let end = pending.addedCount
        while let entry = pending.takeFirst(timing, in: mode, before: end) {
            // A handler may run the loop again, which then goes on here with what is left.
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
