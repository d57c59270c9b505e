// The end of a trial and its row in metrics.csv: the metric `trial_outcome`, one row per trial, so that a crash is a
// row and not missing. The numbers are part of the file format.

/// The end of a trial.
public enum TrialFate: Codable, Sendable, Equatable {
    case completed
    /// A signal that processes raise themselves, such as `SIGSEGV` or a trap's `SIGILL`.
    case crashed(signal: String)
    /// Another signal, such as the kernel's `SIGKILL` when memory ran out.
    case killed(signal: String)
    /// A deadlock was detected, or there was no progress within a time limit.
    case hang
    /// Finished, but the oracle, the model that checks callbacks, or another check of the store found a violation.
    case oracleViolation
    /// The harness failed; the result says nothing about the store.
    case harnessFault(reason: String)
    case interrupted

    /// Value of `trial_outcome`.
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

    /// Flag of the outcome; nil for a completed trial.
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

    /// The row of the outcome, which every trial has.
    public var figure: Figure { Figure(.trialOutcome, .value, Double(code), n: 1, flags: flag.map { [$0] } ?? []) }
}
