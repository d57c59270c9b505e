// The questions of a run's summary that scenarios answer. Values only.

/// A question of the summary, by its word in a scenario file.
public enum SummaryQuestion: String, Codable, Sendable, CaseIterable {
    case latency, staleness, coalescing, upkeep, rate

    /// Metrics of which one answers the question: that of a timed run, then that of a counted one.
    package var metrics: [Metric] {
        switch self {
        case .latency: [.endToEndLatency, .writerInstructions]
        case .staleness: [.staleness]
        case .coalescing: [.coalescingRatio]
        case .upkeep: [.upkeepCost, .upkeepInstructions]
        case .rate: [.sustainableRate]
        }
    }
}
