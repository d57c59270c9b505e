// Holds the upkeep thread, so that a test decides how many commits one of its steps crosses.
import StillingWellSync

@testable import StillingWell

/// A connection whose scheduler keeps whoever posts to it waiting, while the gate is closed. A scheduler must not do that:
/// here it stands for an upkeep thread that gets no time to run.
final class HeldUpkeep {
    private final class Door: Scheduler, @unchecked Sendable {
        let isClosed = Watched(false)
        let isHeld = Watched(false)
        private var deliver: (@Sendable () -> Void)?
        let name = "a gate"
        let isCurrent = true

        func post() {
            guard isClosed.value else { return }
            isHeld.update { $0 = true }
            _ = try? isClosed.wait("the gate to open") { !$0 }
            isHeld.update { $0 = false }
        }

        func setDelivery(_ deliver: @escaping @Sendable () -> Void) { self.deliver = deliver }
        func invalidate() {}
        func turn() { deliver?() }
    }

    private let door = Door()
    private let connection: Connection
    private(set) var isClosed = false

    init(_ store: Store) throws { connection = try store.connect(on: .scheduler(door)) }

    deinit { if isClosed { door.isClosed.update { $0 = false } } }

    /// Lets upkeep reach the last commit, and waits until it has.
    func open() throws {
        door.isClosed.update { $0 = false }
        isClosed = false
        _ = try connection.refresh()
        door.turn()
    }

    /// Lets upkeep go on; does not wait for it. Any thread.
    var letGo: @Sendable () -> Void {
        { [door] in door.isClosed.update { $0 = false } }
    }

    /// Holds upkeep at the last commit.
    func close() throws {
        try open()
        door.isClosed.update { $0 = true }
        isClosed = true
        // Answered with an offer to the mailbox, and so with a post.
        try connection.core.startUpkeep().send(.catchUp(connection.live().mailbox, connection.version, CaughtUp()))
        try door.isHeld.wait("upkeep at the gate") { $0 }
    }
}
