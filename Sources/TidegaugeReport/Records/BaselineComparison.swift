// The result of comparing a run with a baseline, as stored in journal.ndjson. Plain values, so that a page can be
// made again without the baseline. BaselineComparison+Finding computes it, BaselineComparison+Words formats it.
import TidegaugeSpec

/// Figures that became worse since a baseline.
public struct BaselineComparison: Codable, Sendable, Equatable {
    /// A figure that became worse by more than its threshold.
    struct Change: Codable, Equatable {
        /// Name such as `result-size stillingwell dataset.items=1000 upkeep_cost`.
        var what: String
        var metric: Metric
        /// Medians over the trials of the baseline and of this run.
        var then: Double
        var now: Double
    }

    /// Name of the baseline, for people.
    var name: String
    /// Run that the baseline was made from; nil if unknown.
    var runID: String?
    /// Reason why nothing is compared, as a phrase.
    var obstacle: String?
    /// Reason why figures that depend on time are not compared, as a phrase.
    var clockObstacle: String?
    /// Numbers of compared figures: counts such as instructions, and timed figures (`clocks`).
    var counts = 0
    var clocks = 0
    /// Worse counts, worst first.
    var worse: [Change] = []
    /// Slower timed figures, worst first; advice only.
    var slower: [Change] = []
    /// Scenarios whose files changed since the baseline.
    var changed: [String] = []
}
