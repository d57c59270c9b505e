// environment.json: what the figures of metrics.csv were measured with and on. There from the start of a run, completed
// at its end.
import Foundation
import TidegaugeMeasure

/// Writes `environment.json` in the run's folder; keys sorted.
public final class EnvironmentJSON: ReportFormat {
    public static let fileName = "environment.json"

    public init() {}

    public func begin(_ run: ReportedRun) throws { try write(run) }
    public func end(_ run: ReportedRun) throws { try write(run) }

    /// - Throws: `DamagedReport` where the folder has none of this version.
    static func read(_ directory: String) throws -> EnvironmentReport {
        let path = "\(directory)/\(fileName)"
        guard let json = FileManager.default.contents(atPath: path),
            let environment = try? JSONDecoder().decode(EnvironmentReport.self, from: json)
        else { throw DamagedReport("\(path): this is no environment of this version") }
        return environment
    }

    private func write(_ run: ReportedRun) throws {
        try ReportFile.replace(run.directory + "/" + Self.fileName, with: run.environment.json())
    }
}
