// Describes where the caller runs, for error messages, and whether a run loop can deliver there. Stateless; any thread.
import CStillingWellPlatform
import CoreFoundation
import Foundation
import StillingWellSync

struct CallerPlace: Sendable {
    /// Description such as `queue 'feed'` or `thread 'parser'`.
    let name: String
    /// Whether no run loop runs here and none is expected: in a task, or in a block of a queue other than the main
    /// queue on the main thread.
    let isWithoutRunLoop: Bool

    /// The caller's place. Used for errors and when connections are opened.
    static var current: CallerPlace {
        // `CFRunLoopGetCurrent` creates a run loop if the thread has none.
        let runsLoop = RunLoopRoom.isThere && CFRunLoopCopyCurrentMode(CFRunLoopGetCurrent()) != nil
        let isTask = withUnsafeCurrentTask { $0 != nil }
        let label = cp_current_queue_label().map { String(cString: $0) } ?? ""
        let queue: String? =
            switch label {
            // No label, or the label of threads that libdispatch has not started.
            case "", "com.apple.root.default-qos.overcommit": nil
            // The main thread, or a worker thread that serves the main queue once an asynchronous `main` has been
            // suspended.
            case mainQueueLabel: Thread.isMainThread ? nil : "the main queue on a worker thread"
            case let label where label.hasPrefix("Swift global"): "a task of the concurrency pool"
            case let label where isConcurrentLabel(label): "the global dispatch queue"
            default: name(ofQueue: label)
            }
        let thread = Self.thread
        return CallerPlace(
            name: queue ?? (isTask ? "a task on \(thread)" : thread),
            isWithoutRunLoop: !runsLoop && (isTask || queue != nil))
    }

    static func name(ofQueue label: String) -> String {
        label == mainQueueLabel ? "the main queue" : "queue '\(label)'"
    }

    static var thread: String { Thread.isMainThread ? "the main thread" : threadName }

    private static var threadName: String {
        Thread.current.name.flatMap { $0.isEmpty ? nil : "thread '\($0)'" } ?? "another thread"
    }

    private static let mainQueueLabel = "com.apple.main-thread"

    /// Whether this is the label of a concurrent system queue.
    static func isConcurrentLabel(_ label: String) -> Bool { label.hasPrefix("com.apple.root.") }
}
