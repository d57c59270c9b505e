// How a trial ended, and how that stands in metrics.csv: the metric `trial_outcome`, one row per trial, so that a crash
// is a row and not a gap. The numbers are part of the file format.

/// The end of one trial.
public enum TrialFate: Codable, Sendable, Equatable {
    case completed
    /// Ended by a signal of its own making, such as `SIGSEGV` or a trap's `SIGILL`.
    case crashed(signal: String)
    /// Ended by a signal from outside, such as the kernel's `SIGKILL` when memory ran out.
    case killed(signal: String)
    /// No progress within the hang timeout.
    case hang
    /// Ran to its end and broke a promise that the oracle checks.
    case oracleViolation
    /// The harness itself failed: nothing is said about the store.
    case harnessFault(reason: String)
    case interrupted

    /// The value of `trial_outcome`.
    public var code: Int {
        switch self {
        case .completed: 0
        case .crashed: 1
        case .killed: 2
        case .hang: 3
        case .oracleViolation: 4
        case .harnessFault: 5
        case .interrupted: 6
        }
    }

    /// The flag beside it; none for a completed trial.
    public var flag: FigureFlag? {
        switch self {
        case .completed: nil
        case .crashed(let signal): .crashed(signal: signal)
        case .killed(let signal): .killed(signal: signal)
        case .hang: .hang
        case .oracleViolation: .oracleViolation
        case .harnessFault(let reason): .harnessFault(reason: reason)
        case .interrupted: .interrupted
        }
    }

    /// The row that every trial ends with.
    public var figure: Figure { Figure(.trialOutcome, .value, Double(code), n: 1, flags: flag.map { [$0] } ?? []) }
}
