// Blocks the upkeep thread, so that a test decides how many commits one of its steps processes.
import StillingWellSync

@testable import StillingWell

/// A connection whose scheduler blocks the posting thread while the gate is closed. A real scheduler must not do that.
/// Here it simulates an upkeep thread that does not get CPU time.
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

    /// Lets upkeep continue, and waits until it has reached the last commit.
    func open() throws {
        door.isClosed.update { $0 = false }
        isClosed = false
        _ = try connection.refresh()
        door.turn()
    }

    /// Lets upkeep continue, without waiting. May be called on any thread.
    var letGo: @Sendable () -> Void {
        { [door] in door.isClosed.update { $0 = false } }
    }

    /// Blocks upkeep at the last commit.
    func close() throws {
        try open()
        door.isClosed.update { $0 = true }
        isClosed = true
        // Upkeep answers by a message to the mailbox, which posts.
        try connection.core.startUpkeep().send(.catchUp(connection.live().mailbox, connection.version, CaughtUp()))
        try door.isHeld.wait("upkeep at the gate") { $0 }
    }
}
