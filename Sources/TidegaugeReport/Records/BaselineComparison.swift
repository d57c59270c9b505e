// A run held against a baseline, as journal.ndjson keeps it: plain values, so that a page made again shows the same whatever has
// become of the baseline. BaselineComparison+Finding finds what became worse, BaselineComparison+Words says it.
import TidegaugeSpec

/// What became worse since a baseline.
public struct BaselineComparison: Codable, Sendable, Equatable {
    /// A figure that is worse by more than matters.
    struct Change: Codable, Equatable {
        /// `result-size stillingwell dataset.items=1000 upkeep_cost`.
        var what: String
        var metric: Metric
        /// Medians over the trials of each run.
        var then: Double
        var now: Double
    }

    /// Of the baseline, for people.
    var name: String
    /// The run that the baseline was made of; nil where it cannot be told.
    var runID: String?
    /// Why nothing is compared, as half a sentence.
    var obstacle: String?
    /// Why no clocks are.
    var clockObstacle: String?
    /// How many figures were compared.
    var counts = 0
    var clocks = 0
    /// Counts, the worst first.
    var worse: [Change] = []
    /// Clocks, the worst first; advice.
    var slower: [Change] = []
    /// Scenarios that ask something else by now.
    var changed: [String] = []
}
