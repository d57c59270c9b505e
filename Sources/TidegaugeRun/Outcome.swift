// How a run ends, as the number a shell sees. The worst of everything that happened wins.
import Synchronization
import TidegaugeMeasure

/// The exit codes of `tidegauge`, from good to bad.
public enum Outcome: Int32, Sendable, CaseIterable {
    case pass = 0
    /// Of a comparison: a gate could not be decided.
    case inconclusive = 2
    case unavailable = 69
    case limitBroken = 1
    case oracleViolation = 4
    case hang = 3
    /// The harness failed, or a trial's process ended without a result.
    case fault = 70
    case usage = 64
    case badScenario = 65
    case interrupted = 130

    /// What a trial contributes.
    public init(_ fate: TrialFate, isUnavailable: Bool) {
        self =
            switch fate {
            case .completed: .pass
            case .hang: .hang
            case .oracleViolation: .oracleViolation
            case .crashed, .killed: .fault
            case .harnessFault: isUnavailable ? .unavailable : .fault
            case .interrupted: .interrupted
            }
    }

    /// The one that stands further down the list.
    public func worse(_ other: Outcome) -> Outcome {
        let order = Self.allCases
        return order.firstIndex(of: self)! >= order.firstIndex(of: other)! ? self : other
    }
}

/// The wish to stop, from a signal handler's queue to the thread that runs trials. Raised once, seen by everyone.
public final class Interruption: Sendable {
    private let flag = Atomic<Bool>(false)

    public init() {}

    public var isRaised: Bool { flag.load(ordering: .acquiring) }
    public func raise() { flag.store(true, ordering: .releasing) }
}
