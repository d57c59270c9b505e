// Interface of report formats, which receive the events of a run as it proceeds. Called from one thread.
import TidegaugeMeasure
import TidegaugeTrial

/// The reported run.
public struct ReportedRun: Sendable {
    public var runID: String
    /// Existing folder of the run.
    public var directory: String
    public var header = RunHeader()
    public var environment: EnvironmentReport
}

/// A report format. Each call leaves complete files, so that a killed run keeps what earlier calls wrote.
public protocol ReportFormat: AnyObject {
    /// Called before the first trial. The folder may contain files of an earlier part of the run.
    func begin(_ run: ReportedRun) throws
    /// Called after each trial with its rows, and with rows that are computed from several trials.
    func add(_ rows: [RunRow]) throws
    /// Called after each trial with its recordings, after its rows.
    func add(_ recordings: TrialRecordings, of trial: TrialKey, in run: ReportedRun) throws
    /// Called after the rows and recordings that the event follows from.
    func add(_ event: RunEvent) throws
    /// Called after the last trial, also for interrupted runs; `run.environment` is complete.
    func end(_ run: ReportedRun) throws
}

extension ReportFormat {
    public func begin(_ run: ReportedRun) throws {}
    public func add(_ rows: [RunRow]) throws {}
    public func add(_ recordings: TrialRecordings, of trial: TrialKey, in run: ReportedRun) throws {}
    public func add(_ event: RunEvent) throws {}
    public func end(_ run: ReportedRun) throws {}
}
