// environment.json: what the figures of metrics.csv were measured with and on. There from the start of a run, completed
// at its end.
import Measure

/// Writes `environment.json` in the run's folder; keys sorted.
public final class EnvironmentJSON: ReportFormat {
    public static let fileName = "environment.json"

    public init() {}

    public func begin(_ run: ReportedRun) throws { try write(run) }
    public func end(_ run: ReportedRun) throws { try write(run) }

    private func write(_ run: ReportedRun) throws {
        try ReportFile.replace(run.directory + "/" + Self.fileName, with: run.environment.json())
    }
}
