// Writes all formats of a run. Used by one thread.
import Foundation
import TidegaugeMeasure
import TidegaugeTrial

/// The report of a run: its folder, its formats, and the link `latest` beside it.
public final class RunReport {
    public private(set) var run: ReportedRun
    private let formats: [any ReportFormat]

    /// Creates `root/runID` and begins every format there.
    /// - Parameters:
    ///   - root: folder of all runs, created if missing.
    ///   - formats: formats in the order of calls.
    public init(
        root: String, runID: String, header: RunHeader = RunHeader(), environment: EnvironmentReport,
        formats: [any ReportFormat] = [MetricsCSV(), EnvironmentJSON()]
    ) throws {
        self.formats = formats
        let directory = root + "/" + runID
        run = ReportedRun(runID: runID, directory: directory, header: header, environment: environment)
        try ReportFolder.make(directory)
        for format in formats { try format.begin(run) }
        try LatestLink.point(to: runID, in: root)
    }

    /// Folder of the run.
    public var directory: String { run.directory }

    /// Adds the rows of a trial or of a sweep.
    public func add(_ rows: [RunRow]) throws {
        for format in formats { try format.add(rows) }
    }

    /// Adds the recordings of a trial, after its rows.
    public func add(_ recordings: TrialRecordings, of trial: TrialKey) throws {
        for format in formats { try format.add(recordings, of: trial, in: run) }
    }

    /// Adds an event, after the rows that it follows from.
    public func add(_ event: RunEvent) throws {
        for format in formats { try format.add(event) }
    }

    /// Ends every format with the complete environment. Also called for an interrupted run.
    public func end(environment: EnvironmentReport) throws {
        run.environment = environment
        for format in formats { try format.end(run) }
    }

    /// Returns a run ID that sorts by time: `20260131T120000Z-1a2b3c4d`.
    /// - Parameters:
    ///   - secondsSince1970: wall-clock time of the start.
    ///   - entropy: distinguishes runs of the same second.
    public static func makeRunID(secondsSince1970: Int, entropy: UInt32) -> String {
        var seconds = time_t(secondsSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return String(
            format: "%04d%02d%02dT%02d%02d%02dZ-%08x", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
            parts.tm_hour, parts.tm_min, parts.tm_sec, entropy)
    }
}
