// What each kind of fault takes, needs and means: one row each, which rules, drivers and the reference go by. Values only.

extension FaultSpec {
    /// What kinds of fault may have to say.
    static let parameters: [Setting] = [.faultAt, .faultLength, .faultAmount, .faultEvery]
}

extension FaultSpec.Kind {
    /// What has to be there for a fault to hit it, in a scenario and in a store.
    public enum Need: Sendable, Equatable {
        /// Writers in a process of their own, which can be hit alone.
        case ownWriters
        /// A store that several processes can have open.
        case sharedStore
        /// Files; the durability that is wanted at least for there to be something to hit.
        case files(durability: String)
        /// Deliveries whose every change is checked: only a blind oracle lets such a fault pass.
        case checkedDeliveries
    }

    struct Row {
        /// The settings it has to say, in the order they are asked for; no other may stand beside it.
        var takes: [Setting] = []
        var needs: Need?
        var summary: String
    }

    var row: Row {
        switch self {
        case .none: Row(summary: "Nothing is done.")
        case .stall:
            Row(
                takes: [.faultAt, .faultLength],
                summary: "The harness's process stands still: every figure from a due time has to show it.")
        case .slowdown:
            Row(
                takes: [.faultAmount],
                summary:
                    "Half of the commits, drawn at random, take longer by a share of their time; the others say by how "
                    + "much it reads.")
        case .loss:
            Row(
                takes: [.faultEvery], needs: .checkedDeliveries,
                summary: "One delivery in so many is lost on its way. The oracle has to see it.")
        case .reorder:
            Row(
                takes: [.faultEvery], needs: .checkedDeliveries,
                summary: "The delivery of this number comes after its successor. The oracle has to see it.")
        case .writerKilled:
            Row(
                takes: [.faultAt], needs: .ownWriters,
                summary: "The writing process is killed, and another one goes on.")
        case .writerStopped:
            Row(takes: [.faultAt, .faultLength], needs: .ownWriters, summary: "The writing process stands still.")
        case .observerKilled:
            Row(takes: [.faultAt], needs: .sharedStore, summary: "A process that observes the same store is killed.")
        case .diskFull:
            Row(
                takes: [.faultAt, .faultLength], needs: .files(durability: "relaxed"),
                summary:
                    "The store's file system is full: commits fail meanwhile, and none that was acknowledged is lost.")
        case .slowFsync:
            Row(
                takes: [.faultLength], needs: .files(durability: "full"),
                summary: "Every flush to the disk takes longer.")
        case .clockStep: Row(takes: [.faultAt], summary: "The wall clock is set back and forth.")
        }
    }

    public var needs: Need? { row.needs }
    /// Something that only a blind oracle lets pass.
    public var mustBeCaught: Bool { needs == .checkedDeliveries }
}
