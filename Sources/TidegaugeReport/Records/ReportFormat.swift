// What every report format is: something that is told how a run grows. One file per format; the run calls them one
// after the other from one thread.
import TidegaugeMeasure
import TidegaugeTrial

/// The run that a report is about.
public struct ReportedRun: Sendable {
    public var runID: String
    /// The run's own folder, which exists.
    public var directory: String
    public var header = RunHeader()
    public var environment: EnvironmentReport
}

/// One report format. A run that is killed keeps what the last call had finished, so each call leaves whole files.
public protocol ReportFormat: AnyObject {
    /// Before the first trial; the folder may hold what an earlier part of the run had left.
    func begin(_ run: ReportedRun) throws
    /// After each trial, with its rows; and with the rows over a sweep once that is complete.
    func add(_ rows: [RunRow]) throws
    /// After each trial, behind its rows, with what was recorded besides.
    func add(_ recordings: TrialRecordings, of trial: TrialKey, in run: ReportedRun) throws
    /// Behind the rows and recordings it follows from.
    func add(_ event: RunEvent) throws
    /// After the last trial, interrupted or not; `run.environment` is complete.
    func end(_ run: ReportedRun) throws
}

extension ReportFormat {
    public func begin(_ run: ReportedRun) throws {}
    public func add(_ rows: [RunRow]) throws {}
    public func add(_ recordings: TrialRecordings, of trial: TrialKey, in run: ReportedRun) throws {}
    public func add(_ event: RunEvent) throws {}
    public func end(_ run: ReportedRun) throws {}
}
