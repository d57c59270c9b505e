// What a trial hands to its parent: `result.json`. Versioned like the spec, because one commit's binary may run under
// another's.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec

/// The outcome of one trial and everything that was measured in it.
public struct TrialResult: Codable, Sendable {
    public static let currentVersion = 3
    /// In the folder that the child is told.
    package static let fileName = "result.json"

    public var resultVersion = TrialResult.currentVersion
    public var fate: TrialFate
    /// Why the trial ended early, or what is notable about it; for people.
    public var notes: [String] = []
    /// The engine cannot run on this machine.
    public var isUnavailable = false
    public var figures: [Figure] = []
    /// The first few violations the oracle found, each a sentence with place, step and seed.
    public var violations: [String] = []
    public var violationCount = 0
    public var cpu: CPUAccount?
    /// Nil where nothing counts, or where nothing asked.
    public var allocations: AllocationAccount?
    public var noise: NoiseAccount?
    /// Of a counted trial.
    public var count: CountAccount?
    /// Plain counts: commits, callbacks, pairs, …
    public var counts: [String: Int] = [:]
    /// Distributions, series and spans.
    public var recordings = TrialRecordings()
    /// What kept it from going on, or could have.
    public var hangs: [HangRecord] = []
    /// Those that wrote beside this one; nil where a trial has none.
    public var hosts: [HostAccount]?
    /// What the oracle's replay and comparison took, off the clock.
    public var oracleNs: Int64 = 0

    /// Figures whose metric this binary does not know, where another one ran the trial.
    public var foreign: [ForeignFigure]?

    public init(fate: TrialFate, notes: [String] = []) { (self.fate, self.notes) = (fate, notes) }

    /// Reads what a child wrote.
    /// - Throws: `TrialFault` where another version wrote it; what the decoder throws where it is no result at all.
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
    /// A figure under so many times its floor says more about the harness than about the store.
    package static let floorFactor = 3.0
}

/// What a child says while it runs a trial, as a line of JSON on its standard output.
public struct TrialProgress: Codable, Sendable {
    public enum Phase: String, Codable, Sendable {
        case loading, subscribing, measuring, settling, checking
    }

    public var phase: Phase
    /// Of the measured window, 0 … 1 (above 1 while writers are late).
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
