// The wish to stop, from a signal handler's queue to the thread that runs trials.
import Synchronization

/// Raised once, seen by everyone. Any thread.
public final class Interruption: Sendable {
    private let flag = Atomic<Bool>(false)

    public init() {}

    public var isRaised: Bool { flag.load(ordering: .acquiring) }
    public func raise() { flag.store(true, ordering: .releasing) }
}
