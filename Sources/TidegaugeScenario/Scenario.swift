// A scenario: one question to all stores. Parsed strictly from a file into a pure value, the source of sweep points and
// trials.
import StillingWellBasis
import TidegaugeSpec

/// A validated scenario file.
public struct Scenario: Sendable {
    /// File name without extension.
    public let name: String
    public let path: String
    /// SHA-256 of the bytes of the file, of the files that it extends, and of its traces; hexadecimal.
    public internal(set) var sha256: String
    /// The question, one sentence.
    public let purpose: String
    /// The complaint or document that it represents; empty if not given.
    public let represents: String
    /// Drivers that it is meant for; empty: all. Drivers are compared with the first one.
    public let drivers: [String]
    /// Reported metrics: those of `measure` in the written order, then counters of an engine that limits or the gate
    /// name.
    public let measure: [Metric]
    public let limits: [Limit]
    /// Metric that comparisons judge. Default: the first measured one that can compare commits, else the first measured
    /// one.
    public let gate: Metric
    /// Whether the file names the gate; true for an interleaving test, whose gate is fixed.
    public let namesGate: Bool
    /// Questions of the summary that it answers.
    public let answers: [SummaryQuestion]
    /// Interleaving test, or nil for a load.
    public internal(set) var interleaving: InterleavingSpec?

    let knownDrivers: [String]
    /// Position for reports of missing keys.
    let start: ScenarioProblem.Place
    /// Position of each limit's condition.
    let conditionPlaces: [Limit: ScenarioProblem.Place]
    let base: Settings
    let sweep: Sweep?
    /// Values that each profile changes.
    let profiles: [Profile: SettingsLayer]
    /// Traces by file name.
    var traces: [String: Trace] = [:]

    /// Length of its longest trace in ns from the start of the warm-up; nil without traces.
    public var traceNs: Int64? { traces.values.map(\.endNs).max() }

    /// Parses and checks a scenario: every profile at every point of its sweep.
    /// - Parameters:
    ///   - bytes: content of the file.
    ///   - path: path for error messages; its stem is the scenario's name.
    ///   - drivers: driver names that the file may use.
    ///   - files: access to other files that the scenario may name.
    /// - Throws: the problems of the file, of those it extends and of its traces, at most 100.
    public static func parse(
        _ bytes: [UInt8], path: String, drivers: [String], files: NamedFiles = NamedFiles()
    ) throws(ScenarioErrors) -> Scenario {
        var problems = ProblemList(path: path)
        if let file = ExtendedFile.read(bytes, files, into: &problems) {
            var reader = ScenarioReader(problems: problems, knownDrivers: drivers)
            var scenario = reader.read(file.root, sha256: SHA256.hexadecimal(file.bytes))
            problems = reader.problems
            scenario?.readTraces(file.bytes, files, into: &problems)
            if let scenario {
                problems.removable = ExtendedFile.removable
                for profile in Profile.allCases { scenario.check(profile, reader.measurePositions, into: &problems) }
                scenario.checkLimits(reader.limitPlaces, into: &problems)
                try problems.check()
                scenario.checkSamples(into: &problems)
                try problems.check()
                return scenario
            }
        }
        throw ScenarioErrors(problems.sorted)
    }
}
