// What every report format is: something that is told how a run grows. One file per format; the run calls them one
// after the other from one thread.
import Measure

/// The run that a report is about.
public struct ReportedRun: Sendable {
    public var runID: String
    /// The run's own folder, which exists.
    public var directory: String
    public var environment: EnvironmentReport

    public init(runID: String, directory: String, environment: EnvironmentReport) {
        self.runID = runID
        self.directory = directory
        self.environment = environment
    }
}

/// One report format. A run that is killed keeps what the last call had finished, so each call leaves whole files.
public protocol ReportFormat: AnyObject {
    /// Before the first trial.
    func begin(_ run: ReportedRun) throws
    /// After each trial, with its rows; and with the rows over a sweep once that is complete.
    func add(_ rows: [RunRow]) throws
    /// After the last trial, interrupted or not; `run.environment` is complete.
    func end(_ run: ReportedRun) throws
}
