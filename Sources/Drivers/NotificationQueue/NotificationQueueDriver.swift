// Foundation's NotificationQueue, and the typed one. Rows are in a dictionary. After a commit each observing thread
// enqueues a notification for each affected query that it observes. The queue coalesces it with a pending one about the
// same query.
//
// A queue needs a thread with a run loop, so dispatch queues cannot observe. A notification has no data, so data is
// read when it arrives. With Foundation's queue, taking a notification scans all pending ones.
import TidegaugeDriver

/// The drivers of this module. `drivers.txt` names them.
public let allDrivers: [any StoreDriver] = [NotificationQueueDriver(), NotificationQueueDriver(.typed)]

public struct NotificationQueueDriver: StoreDriver {
    /// The kind of queue.
    public enum Kind: Sendable {
        case foundation
        /// `TypedNotificationQueue`: taking a notification has constant cost, however many are pending.
        case typed
    }

    private let kind: Kind

    public var name: String { kind == .foundation ? "notification-queue" : "typed-notifications" }

    public init(_ kind: Kind = .foundation) { self.kind = kind }

    public var facts: EngineFacts {
        EngineFacts(durabilities: [.memory], persists: false, hasChangeSets: false) {
            $0.sites = [.runLoop]
            $0.shows = .nothing
            $0.repeatsRows = true
            $0.remarks = ["a notification carries no data: it covers the version of the model at its arrival"]
            if kind == .foundation { $0.remarks += ["taking one costs time in proportion to those pending"] }
        }
    }

    public func open(_ configuration: StoreConfiguration) -> NotifyingStore { NotifyingStore(isTyped: kind == .typed) }
}
