// What a trial hands to its parent: `result.json`. Versioned like the spec, because one commit's binary may run under
// another's.
import Foundation
import Measure
import Scenario

/// The outcome of one trial and everything that was measured in it.
public struct TrialResult: Codable, Sendable {
    public static let currentVersion = 3

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
    /// Plain counts: commits, callbacks, pairs, …
    public var counts: [String: Int] = [:]
    /// Distributions, series and spans.
    public var recordings = TrialRecordings()
    /// What kept it from going on, or could have.
    public var hangs: [HangRecord] = []
    /// What the oracle's replay and comparison took, off the clock.
    public var oracleNs: Int64 = 0

    /// Figures whose metric this binary does not know, where another one ran the trial.
    public var foreign: [ForeignFigure]?

    public init(fate: TrialFate, notes: [String] = []) {
        self.fate = fate
        self.notes = notes
    }

    /// Turns what the oracle saw into what was looked for: deliveries were harmed on purpose, so many of them.
    mutating func expectCaught(_ spec: TrialSpec, harmed: Int) {
        if harmed == 0 {
            // Nothing was to be seen, and nothing is said.
            notes.append("fewer deliveries than 'fault.every': none was harmed")
            if let index = figures.firstIndex(where: { $0.metric == .faultsCaught }) { figures[index].value = nil }
            return
        }
        if violationCount > 0 {
            fate = .completed
            notes.append("caught, as it should be: \(violations[0])")
            violations = []
            violationCount = 0
        } else {
            fate = .oracleViolation
            violationCount = 1
            violations = [spec.located("the oracle is blind: a \(spec.fault.kind.rawValue) of deliveries was not seen")]
        }
        if let index = figures.firstIndex(where: { $0.metric == .oracleViolations }) {
            figures[index].value = Double(violationCount)
        }
    }

    /// Reads what a child wrote.
    /// - Throws: `TrialFault` where another version wrote it; what the decoder throws where it is no result at all.
    static func read(_ data: Data) throws -> TrialResult {
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

/// CPU time from the start of the measured window until every observer had covered its last commit. The harness's own
/// work (the conducting thread, the hiccup probe, active waiting for due times) is in none of the figures.
public struct CPUAccount: Codable, Sendable, Equatable {
    public var processNs: Int64
    /// By `ThreadRole`.
    public var roleNs: [String: Int64]
    /// Taken off: conducting thread and hiccup probe.
    public var harnessNs: Int64
    /// Taken off the writers: active waiting.
    public var spunNs: Int64
    /// Commits that returned in that time.
    public var commits: Int
    /// Those of them that affect at least one observer.
    public var affectingCommits: Int

    /// Process CPU per commit, ns; nil without commits.
    public var perCommitNs: Double? { commits > 0 ? Double(processNs) / Double(commits) : nil }
}
