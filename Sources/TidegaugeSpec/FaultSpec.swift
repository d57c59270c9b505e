// Faults that a trial injects: `FaultSpec` as a spec stores them, `Injection` as the code that injects them reads them.

/// A fault as stored in a spec. Fields that its kind does not take stay 0 or nil.
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
        case serverRestarted = "server-restarted"
        case connectionCut = "connection-cut"
        case observerStopped = "observer-stopped"
        case largeTransaction = "large-transaction"
    }

    public var kind = Kind.none
    /// Start of the fault in ns from the start of the measured window.
    public var atNs: Int64 = 0
    public var lengthNs: Int64 = 0
    public var amount: Double = 0
    public var every = 0
    /// Number of rows of `largeTransaction`; nil for other kinds.
    public var rows: Int?

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
        case .serverRestarted: .serverRestarted(atNs: atNs)
        case .connectionCut: .connectionCut(atNs: atNs)
        case .observerStopped: .observerStopped(atNs: atNs, lengthNs: lengthNs)
        case .largeTransaction: .largeTransaction(atNs: atNs, rows: rows ?? 0)
        }
    }
}

/// A fault with the values of its kind. `atNs` counts from the start of the measured window.
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
    case serverRestarted(atNs: Int64)
    case connectionCut(atNs: Int64)
    case observerStopped(atNs: Int64, lengthNs: Int64)
    case largeTransaction(atNs: Int64, rows: Int)
}
