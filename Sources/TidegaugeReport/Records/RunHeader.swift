// The request of a run: the first line of journal.ndjson.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The request of a run.
public struct RunHeader: Codable, Sendable, Equatable {
    public var profile = Profile.ci
    /// Scenario paths as given on the command line.
    public var paths: [String] = []
    /// Drivers as given on the command line: names, commands and files of engines.
    public var drivers: [String] = []
    /// Names of the drivers that the commands and files stand for. Nil if there are none.
    public var engines: [String: String]?
    /// Remarks of those drivers by name: versions, the engine's own remarks, and what is not checked. Nil if there are none.
    public var engineRemarks: [String: [String]]?
    public var seed: UInt64?
    public var overrides: [String] = []
    public var filter: String?
    public var trace = false
    /// File that replaces the traces of scenarios.
    public var traceFile: String?
    /// Path of the hosts file, and its content.
    public var hostsFile: String?
    public var hosts: [HostEntry]?
    /// Names of the baseline to compare with and of the one to save.
    public var baseline: String?
    public var savedBaseline: String?
    /// Counter of instructions, if only counts were requested.
    public var counter: InstructionCounter?
    /// Number of commits per counted trial, if given.
    public var countedCommits: Int?
    /// Identifies the binary that measured; see `Fingerprint`.
    public var binary = ""
    public var scenarios: [ScenarioRecord] = []
    /// Drivers that do nothing, of those that the program has. Nil in a run that was recorded before this field existed.
    public var emptyDrivers: [String]?
    /// Drivers of the run to which limits of a scenario do not apply, because the scenario does not name them. Nil if
    /// there are none.
    public var unjudged: [String]?

    public init(paths: [String] = []) { self.paths = paths }
}

extension RunHeader {
    /// Whether a driver does nothing, so that it measures only the harness.
    func isEmpty(_ driver: String) -> Bool { (emptyDrivers ?? Self.formerEmptyDrivers).contains(driver) }

    /// Lines about drivers on which limits were not judged: engines in a process of their own, then others.
    public var unjudgedLines: [String] {
        let foreign = Set(engines.map { Array($0.values) } ?? [])
        let processes = (unjudged ?? []).filter(foreign.contains)
        let others = (unjudged ?? []).filter { !foreign.contains($0) }
        var lines: [String] = []
        if !processes.isEmpty {
            lines.append("limits: not judged on engines in a process (\(processes.joined(separator: ", ")))")
        }
        if !others.isEmpty {
            lines.append("limits: not judged on \(others.joined(separator: ", ")), which the scenario does not name")
        }
        return lines
    }

    /// Names of the drivers of the command line.
    var driverNames: [String] { drivers.map { engines?[$0] ?? $0 } }

    /// Drivers that do nothing, for runs that were recorded before `emptyDrivers` existed.
    private static let formerEmptyDrivers = ["noop", "null-server"]
}

/// Properties of a scenario that reports show.
public struct ScenarioRecord: Codable, Sendable, Equatable {
    public var name: String
    public var path: String
    public var purpose: String
    public var represents: String
    public var sha: String
    public var gate: Metric
    /// Questions of the summary that the scenario answers, or nil if it answers none.
    public var answers: [SummaryQuestion]?

    public init(
        name: String, path: String, purpose: String, represents: String, sha: String, gate: Metric,
        answers: [SummaryQuestion] = []
    ) {
        (self.name, self.path, self.purpose) = (name, path, purpose)
        (self.represents, self.sha, self.gate) = (represents, sha, gate)
        self.answers = answers.isEmpty ? nil : answers
    }
}
