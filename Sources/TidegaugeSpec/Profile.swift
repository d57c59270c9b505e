// How long a run may take, as a word. Values only.

/// How much of a scenario is run.
public enum Profile: String, CaseIterable, Sendable, Codable {
    /// Seconds: proves that everything works.
    case smoke
    /// Minutes: what every commit gets.
    case ci
    /// As long as the question deserves.
    case full

    /// What it is for, in a sentence.
    package var summary: String {
        switch self {
        case .smoke: "Seconds: proves that everything works, and judges no limit."
        case .ci: "Minutes: what every commit gets, and what runs where nobody names a profile."
        case .full: "As long as the question deserves."
        }
    }
}
