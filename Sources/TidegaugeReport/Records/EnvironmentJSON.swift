// environment.json: the machine, the build and the noise of a run. Written at the start and completed at the end.
import Foundation
import TidegaugeMeasure

/// Writes `environment.json` in the run's folder, with sorted keys.
public final class EnvironmentJSON: ReportFormat {
    public static let fileName = "environment.json"

    public init() {}

    public func begin(_ run: ReportedRun) throws { try write(run) }
    public func end(_ run: ReportedRun) throws { try write(run) }

    /// - Throws: `DamagedReport` if the folder has no environment of this version.
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
