// The result that a trial passes to its parent: `result.json`. It has a version like the spec, because a run may use
// another commit's binary.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec

/// The outcome of one trial.
public struct TrialResult: Codable, Sendable {
    public static let currentVersion = 3
    /// File name in the folder that the child is given.
    package static let fileName = "result.json"

    public var resultVersion = TrialResult.currentVersion
    public var fate: TrialFate
    /// Reasons why the trial ended early, and remarks; for people.
    public var notes: [String] = []
    /// The engine cannot run on this machine.
    public var isUnavailable = false
    public var figures: [Figure] = []
    /// The first few violations, as sentences.
    public var violations: [String] = []
    public var violationCount = 0
    public var cpu: CPUAccount?
    /// nil if allocations were not counted.
    public var allocations: AllocationAccount?
    public var noise: NoiseAccount?
    /// Counts of a counted trial.
    public var count: CountAccount?
    /// Plain counts by name: commits, callbacks, pairs, …
    public var counts: [String: Int] = [:]
    /// Commits per second that the engine reached; nil if no commit was missed, or the spec has a fault.
    public var saturationHz: Double?
    /// Distributions, series and spans.
    public var recordings = TrialRecordings()
    /// Hangs and possible deadlocks.
    public var hangs: [HangRecord] = []
    /// Hosts that took part in the trial; nil without hosts.
    public var hosts: [HostAccount]?
    /// Time in ns of the oracle's replay and comparison after the load.
    public var oracleNs: Int64 = 0

    /// Figures whose metric or statistic this binary does not know, if another binary ran the trial.
    public var foreign: [ForeignFigure]?

    public init(fate: TrialFate, notes: [String] = []) { (self.fate, self.notes) = (fate, notes) }

    /// Reads the result of a child.
    /// - Throws: `TrialFault` if another version wrote it, or the decoder's error if it is not a result.
    package static func read(_ data: Data) throws -> TrialResult {
        struct Version: Decodable { var resultVersion: Int }
        let version = try JSONDecoder().decode(Version.self, from: data).resultVersion
        guard version == currentVersion else {
            throw TrialFault.refused(
                "the result has version \(version), this binary reads version \(currentVersion): run both sides with a "
                    + "binary of the same result version")
        }
        return try JSONDecoder().decode(TrialResult.self, from: data)
    }
}

extension Figure {
    /// A figure below this multiple of its floor is flagged `at_floor`. The floor is a cost of the harness: the same
    /// figure of the no-op driver, its CPU time per commit (for `upkeep_cost`), the cost of one clock read, or the same
    /// percentile of late wake-ups.
    package static let floorFactor = 3.0
}

/// Progress of a trial, which the child writes as a line of JSON on its standard output.
public struct TrialProgress: Codable, Sendable {
    public enum Phase: String, Codable, Sendable {
        case loading, subscribing, measuring, settling, checking
    }

    public var phase: Phase
    /// Elapsed share of the measured window: 0 before it, above 1 while its writers still work after its end.
    public var fraction: Double
    public var commits: Int
    public var callbacks: Int

    package init(_ phase: Phase) {
        self.phase = phase
        fraction = phase == .settling || phase == .checking ? 1 : 0
        commits = 0
        callbacks = 0
    }
}
