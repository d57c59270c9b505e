// How much of a scenario a run executes. Values only.

/// Share of a scenario that is run.
public enum Profile: String, CaseIterable, Sendable, Codable {
    /// Seconds: checks that everything works.
    case smoke
    /// Minutes: run for every commit.
    case ci
    /// The scenario's own durations and repetitions.
    case full

    /// One-sentence description for `list` and the reference.
    package var summary: String {
        switch self {
        case .smoke: "Seconds: checks that everything works. No limit is judged."
        case .ci: "Minutes: for every commit, and the default."
        case .full: "The scenario's own durations and repetitions."
        }
    }
}
