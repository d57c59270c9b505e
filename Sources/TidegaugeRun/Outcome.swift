// The exit code of a run: the worst of everything that happened.
import Synchronization
import TidegaugeMeasure

/// The exit codes of `tidegauge`, from best to worst.
public enum Outcome: Int32, Sendable, CaseIterable {
    case pass = 0
    /// A comparison could not decide the figure by which commits are compared (the gate).
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

    /// Exit code of a trial with this fate.
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

    /// Returns the worse of two codes: the later one in the order of cases.
    public func worse(_ other: Outcome) -> Outcome {
        let order = Self.allCases
        return order.firstIndex(of: self)! >= order.firstIndex(of: other)! ? self : other
    }
}

/// A stop request from a signal handler's queue to the threads that run trials. It is never withdrawn.
public final class Interruption: Sendable {
    private let flag = Atomic<Bool>(false)

    public init() {}

    public var isRaised: Bool { flag.load(ordering: .acquiring) }
    public func raise() { flag.store(true, ordering: .releasing) }
}
