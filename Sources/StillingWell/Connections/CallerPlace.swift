// Where the caller runs, in the words of error messages, and whether a run loop can deliver anything there. Stateless;
// any thread.
import CStillingWellPlatform
import CoreFoundation
import Foundation
import StillingWellSync

struct CallerPlace: Sendable {
    /// Such as `queue 'feed'` or `thread 'parser'`.
    let name: String
    /// Why a run loop here would never turn; false where one turns, or may be made to later.
    let isWithoutRunLoop: Bool

    /// Where the caller is. Costs a microsecond or so: for errors, and for the opening of connections.
    static var current: CallerPlace {
        // Asking a thread for its run loop makes one.
        let runsLoop = RunLoopRoom.isThere && CFRunLoopCopyCurrentMode(CFRunLoopGetCurrent()) != nil
        let isTask = withUnsafeCurrentTask { $0 != nil }
        let label = cp_current_queue_label().map { String(cString: $0) } ?? ""
        let queue: String? =
            switch label {
            // What libdispatch says of a thread that it has not started.
            case "", "com.apple.root.default-qos.overcommit": nil
            // The main thread; or, once an asynchronous `main` has been suspended, a worker in its place.
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

    /// The calling thread, such as `thread 'parser'`.
    static var thread: String { Thread.isMainThread ? "the main thread" : threadName }

    private static var threadName: String {
        Thread.current.name.flatMap { $0.isEmpty ? nil : "thread '\($0)'" } ?? "another thread"
    }

    private static let mainQueueLabel = "com.apple.main-thread"

    /// Whether this is the label of a queue that the system has and that runs blocks at once.
    static func isConcurrentLabel(_ label: String) -> Bool { label.hasPrefix("com.apple.root.") }
}
