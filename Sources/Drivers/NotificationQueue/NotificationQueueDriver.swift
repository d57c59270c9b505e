// Foundation's NotificationQueue, and the typed one beside it: rows in a dictionary, and for each commit and each query it
// concerns a notification on the queue of the observing thread, which coalesces those of one name and one sender.
//
// Foundation's limits, which are this driver's: a queue belongs to a thread with a run loop, so dispatch queues cannot
// observe; a notification says that something changed and carries nothing, so data is read when it arrives; and the
// queue looks through all that is pending for each notification it takes.
import TidegaugeDriver

public struct NotificationQueueDriver: StoreDriver {
    /// Whose queue.
    public enum Kind: Sendable {
        case foundation
        /// `TypedNotificationQueue`: the same place, and taking a notification costs the same however many wait.
        case typed
    }

    private let kind: Kind

    public var name: String { kind == .foundation ? "notification-queue" : "typed-notifications" }

    public init(_ kind: Kind = .foundation) { self.kind = kind }

    public var facts: EngineFacts {
        EngineFacts(durabilities: [.memory], persists: false, hasChangeSets: false) {
            $0.sites = [.runLoop]
            $0.shows = .nothing
            $0.remarks = ["a notification carries no data: what it covers is the version of the model when it arrives"]
            if kind == .foundation { $0.remarks += ["taking one costs time in proportion to those pending"] }
        }
    }

    public func open(_ configuration: StoreConfiguration) -> NotifyingStore { NotifyingStore(isTyped: kind == .typed) }
}
