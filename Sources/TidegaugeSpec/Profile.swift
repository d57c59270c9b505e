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
        case .smoke: "Seconds: proves that everything works, and judges no limit."
        case .ci: "Minutes: what every commit gets, and what runs where nobody names a profile."
        case .full: "As long as the question deserves."
        }
    }
}
