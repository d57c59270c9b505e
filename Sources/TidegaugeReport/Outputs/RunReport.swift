// All formats of one run, behind one object that the run tells what happened. Used by one thread.
import Foundation
import TidegaugeMeasure
import TidegaugeTrial

/// A run's report: its folder, its formats, and `latest` beside it.
public final class RunReport {
    public private(set) var run: ReportedRun
    private let formats: [any ReportFormat]

    /// Makes `root/runID` and begins every format there.
    /// - Parameters:
    ///   - root: The folder of all runs, made if it is not there.
    ///   - formats: Told in this order.
    /// - Throws: `ReportError` where the folder or a file cannot be made.
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

    /// The folder that `metrics.csv` is in.
    public var directory: String { run.directory }

    /// Passes on the rows of a trial, or of a sweep; they are on disk when it returns.
    public func add(_ rows: [RunRow]) throws {
        for format in formats { try format.add(rows) }
    }

    /// Passes on what else a trial recorded, behind its rows.
    public func add(_ recordings: TrialRecordings, of trial: TrialKey) throws {
        for format in formats { try format.add(recordings, of: trial, in: run) }
    }

    /// Passes on what happened, behind what it follows from.
    public func add(_ event: RunEvent) throws {
        for format in formats { try format.add(event) }
    }

    /// Ends every format with the complete environment. To be called for an interrupted run too.
    public func end(environment: EnvironmentReport) throws {
        run.environment = environment
        for format in formats { try format.end(run) }
    }

    /// A name for a run that sorts by time: `20260131T120000Z-1a2b3c4d`.
    /// - Parameters:
    ///   - secondsSince1970: Wall-clock time of the start, by which people find a run.
    ///   - entropy: Tells runs of one second apart.
    public static func makeRunID(secondsSince1970: Int, entropy: UInt32) -> String {
        var seconds = time_t(secondsSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return String(
            format: "%04d%02d%02dT%02d%02d%02dZ-%08x", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
            parts.tm_hour, parts.tm_min, parts.tm_sec, entropy)
    }
}
