// Notifications of a harbour, and subscribers that record them.
import CoreFoundation
import Foundation
import StillingWellSync
import Synchronization

@testable import TypedNotifications

final class Harbour: @unchecked Sendable {}
final class Lighthouse: @unchecked Sendable {}

struct TideTurned: TypedNotification, Equatable {
    typealias Poster = Harbour
    var heightMm = 0
}

struct ShipEntered: TypedNotification, Equatable {
    typealias Poster = Harbour
    var number = 0
}

struct LampLit: TypedNotification, Equatable {
    typealias Poster = Lighthouse
    var number = 0
}

/// Records the notifications that it receives, as text. Any thread.
final class Logbook: NotificationSubscriber, @unchecked Sendable {
    private let lock = TracedMutex("logbook")
    private let changed: TracedCondition
    private var written: [String] = []
    private var places: [String] = []
    var whenTold: (@Sendable (any TypedNotification) -> Void)?

    init() { changed = TracedCondition("logbook", lock) }

    var lines: [String] { lock.withLock { written } }
    /// Names of the threads on which it was called.
    var toldOn: [String] { lock.withLock { places } }

    func handle(_ notification: any TypedNotification) {
        let line =
            switch notification {
            case let turned as TideTurned: "tide \(turned.heightMm)"
            case let entered as ShipEntered: "ship \(entered.number)"
            case let lit as LampLit: "lamp \(lit.number)"
            default: "?"
            }
        lock.withLock {
            written.append(line)
            places.append(Thread.current.name ?? "")
            changed.broadcast()
        }
        whenTold?(notification)
    }

    /// Waits until `count` lines were recorded.
    func wait(count: Int) {
        lock.withLock { while written.count < count { changed.wait() } }
    }
}

/// Runs `body` on a run-loop thread, which is stopped afterwards.
func onRunLoopThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
    let thread = RunLoopThread("notification test")
    defer { thread.stop() }
    return try thread.performAndWait(body)
}

/// Runs the current thread's run loop in a mode until a pass of 1 ms handles no source.
func turnRunLoop(_ mode: RunLoop.Mode = .default) {
    // With a time limit of zero the loop would poll only, and never come to the point before sleep.
    while CFRunLoopRunInMode(mode.asCFRunLoopMode, 0.001, true) == .handledSource {}
}
