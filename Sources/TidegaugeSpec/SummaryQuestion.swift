// The questions of a run's summary that scenarios answer. Values only.

/// A question of the summary, by its word in a scenario file.
public enum SummaryQuestion: String, Codable, Sendable, CaseIterable {
    case latency, staleness, coalescing, upkeep, rate
}
