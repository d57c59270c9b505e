// Properties of each kind of fault: its settings, its needs and a summary.

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
        /// Store files, so any durability but `memory`. Error messages suggest the given one.
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
        case .none: Row("No fault.")
        case .stall:
            Row(
                "The harness's process is stopped for a time. Every figure from a due time must show it.",
                takes: .faultAt, .faultLength)
        case .slowdown:
            Row(
                "Half of the commits, chosen at random, take longer by a share of their time. The other half shows the "
                    + "difference.", takes: .faultAmount)
        case .loss:
            Row(
                "Every n-th delivery is dropped. The oracle must detect it.", takes: .faultEvery,
                needs: .checkedDeliveries)
        case .reorder:
            Row(
                "The n-th delivery comes after its successor. The oracle must detect it.",
                takes: .faultEvery, needs: .checkedDeliveries)
        case .writerKilled:
            Row("The writing process is killed, and another one continues.", takes: .faultAt, needs: .ownWriters)
        case .writerStopped:
            Row("The writing process is stopped for a time.", takes: .faultAt, .faultLength, needs: .ownWriters)
        case .observerKilled:
            Row("A process that observes the same store is killed.", takes: .faultAt, needs: .sharedStore)
        case .diskFull:
            Row(
                "The store's file system is full for a time. Commits fail, and no acknowledged one may be lost.",
                takes: .faultAt, .faultLength, needs: .files(durability: "relaxed"))
        case .slowFsync:
            Row("Every flush to the disk takes longer.", takes: .faultLength, needs: .files(durability: "full"))
        case .clockStep:
            Row(
                "The wall clock is set one hour ahead, and 0.1 s later one hour behind until the end of the trial.",
                takes: .faultAt)
        case .serverRestarted:
            Row("The server is shut down and started again.", takes: .faultAt, needs: .ownServer)
        case .connectionCut:
            Row("The connections that notify observers of changes are closed.", takes: .faultAt, needs: .ownServer)
        case .observerStopped:
            Row(
                "An additional observer of the server begins a transaction and stays idle in it for a time.",
                takes: .faultAt, .faultLength, needs: .ownServer)
        case .largeTransaction:
            Row(
                "One transaction writes rows that no observer watches.", takes: .faultAt, .faultRows,
                needs: .ownServer)
        }
    }

    public var needs: Need? { row.needs }
    /// Whether `recovery_time` is measured from the fault.
    public var isRecoveredFrom: Bool {
        [.writerKilled, .writerStopped, .serverRestarted, .connectionCut].contains(self)
    }
    /// Whether the trial fails unless the oracle detects the fault.
    public var mustBeCaught: Bool { needs == .checkedDeliveries }
}
