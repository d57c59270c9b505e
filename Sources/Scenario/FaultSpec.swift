// What is done on purpose while a trial runs: as a spec writes it down, and as those who do it read it. What a kind of fault
// takes, needs and means stands in one row of `Kind.row`. Values only.

/// A fault in the words of a spec. Only what its kind takes is said; the rest is 0.
public struct FaultSpec: Codable, Sendable, Equatable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        case none
        case stall
        case slowdown
        case loss
        case reorder
        case writerKilled = "writer-killed"
        case writerStopped = "writer-stopped"
        case observerKilled = "observer-killed"
        case diskFull = "disk-full"
        case slowFsync = "slow-fsync"
        case clockStep = "clock-step"
    }

    public var kind: Kind
    /// From the start of the measured window.
    public var atNs: Int64
    public var lengthNs: Int64
    public var amount: Double
    public var every: Int

    public init(kind: Kind = .none, atNs: Int64 = 0, lengthNs: Int64 = 0, amount: Double = 0, every: Int = 0) {
        self.kind = kind
        self.atNs = atNs
        self.lengthNs = lengthNs
        self.amount = amount
        self.every = every
    }
}

/// A fault with what its kind needs, and nothing else. Times are from the start of the measured window.
public enum Injection: Sendable, Equatable {
    case none
    case stall(atNs: Int64, lengthNs: Int64)
    case slowdown(amount: Double)
    case loss(every: Int)
    case reorder(every: Int)
    case writerKilled(atNs: Int64)
    case writerStopped(atNs: Int64, lengthNs: Int64)
    case observerKilled(atNs: Int64)
    case diskFull(atNs: Int64, lengthNs: Int64)
    case slowFsync(lengthNs: Int64)
    case clockStep(atNs: Int64)
}

extension FaultSpec {
    /// What kinds of fault may have to say.
    static let parameters: [Setting] = [.faultAt, .faultLength, .faultAmount, .faultEvery]

    public var injection: Injection {
        switch kind {
        case .none: .none
        case .stall: .stall(atNs: atNs, lengthNs: lengthNs)
        case .slowdown: .slowdown(amount: amount)
        case .loss: .loss(every: every)
        case .reorder: .reorder(every: every)
        case .writerKilled: .writerKilled(atNs: atNs)
        case .writerStopped: .writerStopped(atNs: atNs, lengthNs: lengthNs)
        case .observerKilled: .observerKilled(atNs: atNs)
        case .diskFull: .diskFull(atNs: atNs, lengthNs: lengthNs)
        case .slowFsync: .slowFsync(lengthNs: lengthNs)
        case .clockStep: .clockStep(atNs: atNs)
        }
    }
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
            Row(
                takes: [.faultAt], needs: .sharedStore, summary: "A process that observes the same store is killed.")
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
