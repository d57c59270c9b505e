// A line of metrics.csv as a value: a figure with its run, scenario, engine and trial.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// A figure of one trial or of one sweep, with its identification.
public struct RunRow: Codable, Sendable, Equatable {
    /// Raised when a column changes its meaning.
    public static let schemaVersion = 1
    /// The `variant` of a figure over all points of a sweep.
    public static let overSweep = "*"

    public var runID: String
    public var commit: String
    public var dirty: Bool
    public var scenario: String
    public var scenarioSHA: String
    public var driver: String
    /// Sweep point, such as `dataset.items=1000;observers.count=10`. `*` for a figure over the sweep; empty without a
    /// sweep.
    public var variant: String
    public var trial: Int
    public var seed: UInt64
    public var figure: Figure

    /// Returns the rows for one trial's figures.
    public static func rows(
        _ figures: [Figure], of spec: TrialSpec, runID: String, environment: EnvironmentReport
    ) -> [RunRow] {
        figures.map {
            RunRow(
                runID: runID, commit: environment.commit, dirty: environment.dirty, scenario: spec.scenario,
                scenarioSHA: spec.scenarioSHA, driver: spec.driver, variant: spec.variant, trial: spec.trial,
                seed: spec.seed, figure: $0)
        }
    }
}

extension TrialKey {
    init(_ row: RunRow) {
        self.init(scenario: row.scenario, driver: row.driver, variant: row.variant, trial: row.trial)
    }
}
