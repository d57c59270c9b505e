// Foundation's NotificationQueue: rows in a dictionary, and for each commit and each query it concerns a notification on
// the queue of the observing thread, which coalesces those of one name and one sender.
//
// Foundation's limits, which are this driver's: a queue belongs to a thread with a run loop, so dispatch queues cannot
// observe; a notification says that something changed and carries nothing, so data is read when it arrives; and the
// queue looks through all that is pending for each notification it takes.
import StoreDriver

public struct NotificationQueueDriver: StoreDriver {
    public let name = "notification-queue"

    public init() {}

    public var capabilities: Capabilities {
        Capabilities(
            durabilities: [.memory], canDeliverOnRunLoop: true, canDeliverOnQueue: false, hasChangeSets: false,
            hasVersions: true, persists: false,
            remarks: [
                "a notification carries no data: what it covers is the version of the model when it arrives",
                "taking one costs time in proportion to those pending",
            ])
    }

    public func open(_ configuration: StoreConfiguration) -> any DrivenStore { NotifyingStore() }
}
