// A scenario: one question, asked of every store in the same words. Read strictly from a file, then a pure value from
// which sweep points and trials follow.
import StillingWellBasis
import TidegaugeSpec

/// A validated scenario file. Any thread.
public struct Scenario: Sendable {
    /// The file's name without its extension.
    public let name: String
    public let path: String
    /// SHA-256 of the file's bytes, and of those of the files it extends and the traces it names, hexadecimal.
    public internal(set) var sha256: String
    /// The question, one sentence.
    public let purpose: String
    /// The real complaint or document it stands for; empty where the file names none.
    public let represents: String
    /// The only drivers it is meant for; empty: all. Where drivers are compared, it is with the first.
    public let drivers: [String]
    /// What is reported, in the order written.
    public let measure: [Metric]
    public let limits: [Limit]
    /// The one metric by which two commits are compared: where the file names none, the first measured that can tell them
    /// apart, or else the first measured.
    public let gate: Metric
    /// Whether the file says which.
    public let namesGate: Bool
    /// What threads do, where it is no load.
    public internal(set) var choreography: Choreography?

    let knownDrivers: [String]
    /// Where a key that is missing would have to be added.
    let start: ScenarioProblem.Place
    /// Where each limit states its condition.
    let conditionPlaces: [Limit: ScenarioProblem.Place]
    let base: Settings
    let sweep: Sweep?
    /// What each profile changes.
    let profiles: [Profile: SettingsLayer]
    /// By the names of their files.
    var traces: [String: Trace] = [:]

    /// How long the traces are that it follows, in ns from the start of the warm-up; nil where it follows none.
    public var traceNs: Int64? { traces.values.map(\.endNs).max() }

    /// Reads and checks a scenario: every profile, at every point of its sweep.
    /// - Parameters:
    ///   - bytes: the file's contents.
    ///   - path: names the file in errors; its stem names the scenario.
    ///   - drivers: the names that `drivers` may hold.
    ///   - files: what the scenario may name besides.
    /// - Throws: all problems of the file and of those it extends, in file order.
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
