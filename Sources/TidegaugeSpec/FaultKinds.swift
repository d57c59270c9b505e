// Properties of each kind of fault: its settings, its needs and a summary. Used by rules, drivers and the reference.

extension FaultSpec {
    /// All settings that a kind of fault may take.
    package static let parameters: [Setting] = [.faultAt, .faultLength, .faultAmount, .faultEvery, .faultRows]
}

extension FaultSpec.Kind {
    /// Requirement of a fault on the scenario or the store.
    public enum Need: Sendable, Equatable {
        /// Writers in a process of their own, so that the fault hits only them.
        case ownWriters
        /// A store that several processes can open.
        case sharedStore
        /// Store files with at least this durability level.
        case files(durability: String)
        /// A server that the trial started itself.
        case ownServer
        /// Deliveries whose change sets the oracle replays. The oracle must detect the fault.
        case checkedDeliveries
    }

    package struct Row {
        package let summary: String
        /// Settings that must be given, in the order of the error messages. Other fault settings are refused.
        package let takes: [Setting]
        package let needs: Need?

        init(_ summary: String, takes: Setting..., needs: Need? = nil) {
            (self.summary, self.takes, self.needs) = (summary, takes, needs)
        }
    }

    package var row: Row {
        switch self {
        case .none: Row("Nothing is done.")
        case .stall:
            Row(
                "The harness's process stands still: every figure from a due time has to show it.",
                takes: .faultAt, .faultLength)
        case .slowdown:
            Row(
                "Half of the commits, drawn at random, take longer by a share of their time; the others say by how "
                    + "much it reads.", takes: .faultAmount)
        case .loss:
            Row(
                "One delivery in so many is lost on its way. The oracle has to see it.", takes: .faultEvery,
                needs: .checkedDeliveries)
        case .reorder:
            Row(
                "The delivery of this number comes after its successor. The oracle has to see it.",
                takes: .faultEvery, needs: .checkedDeliveries)
        case .writerKilled:
            Row("The writing process is killed, and another one goes on.", takes: .faultAt, needs: .ownWriters)
        case .writerStopped:
            Row("The writing process stands still.", takes: .faultAt, .faultLength, needs: .ownWriters)
        case .observerKilled:
            Row("A process that observes the same store is killed.", takes: .faultAt, needs: .sharedStore)
        case .diskFull:
            Row(
                "The store's file system is full: commits fail meanwhile, and none that was acknowledged is lost.",
                takes: .faultAt, .faultLength, needs: .files(durability: "relaxed"))
        case .slowFsync:
            Row("Every flush to the disk takes longer.", takes: .faultLength, needs: .files(durability: "full"))
        case .clockStep: Row("The wall clock is set back and forth.", takes: .faultAt)
        case .serverRestarted:
            Row("The server is shut down and started again.", takes: .faultAt, needs: .ownServer)
        case .connectionCut:
            Row("The connections by which observers hear of changes are cut.", takes: .faultAt, needs: .ownServer)
        case .observerStopped:
            Row(
                "A further observer of the server begins to look, and stands still.", takes: .faultAt, .faultLength,
                needs: .ownServer)
        case .largeTransaction:
            Row(
                "One transaction writes so many rows that nobody watches.", takes: .faultAt, .faultRows,
                needs: .ownServer)
        }
    }

    public var needs: Need? { row.needs }
    /// Whether a first commit or delivery follows the fault, so that a recovery time can be measured.
    public var isRecoveredFrom: Bool {
        [.writerKilled, .writerStopped, .serverRestarted, .connectionCut].contains(self)
    }
    /// Whether the trial fails unless the oracle detects the fault.
    public var mustBeCaught: Bool { needs == .checkedDeliveries }
}
