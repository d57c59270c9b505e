// A comparison's folder: journal first, everything else made of it. `comparison.ndjson` holds the plan and then a line for
// each pair, on disk before the next begins; what is decided is decided anew from it, and comes out the same.
import Comparison
import Foundation
import Measure

/// What a comparison's folder holds.
public struct ComparisonRecord: Sendable {
    public static let journalName = "comparison.ndjson"

    public var plan: ComparisonPlan
    public var pairs: [PairRecord]
    /// Before any pair.
    public var counted: [CountedRow] = []
    /// Whether counting was begun, and not brought to its end.
    public var isCounting = false
    /// What was not counted, and why.
    public var uncounted: [OneSided] = []
    public var environment: EnvironmentReport
    /// Whether the comparison came to its end.
    public var isFinished: Bool

    /// One line: exactly one of its fields is there.
    struct Line: Codable {
        var plan: ComparisonPlan?
        var pair: PairRecord?
        var counted: [CountedRow]?
        var uncounted: [OneSided]?
        var ended: EndRecord?

        func text() throws -> String { try JSONLines.text(self) }
    }

    public static func isComparison(_ directory: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(directory)/\(journalName)")
    }

    /// - Throws: `DamagedReport` where the folder holds something else.
    public static func load(_ directory: String) throws -> ComparisonRecord {
        let path = "\(directory)/\(journalName)"
        let lines: [Line] = try JSONLines.read(path, "a comparison", hint: "is this the folder of a comparison?")
        let environment = try EnvironmentJSON.read(directory)
        var plan: ComparisonPlan?
        var pairs: [PairRecord] = []
        var counted: [CountedRow] = []
        var uncounted: [OneSided] = []
        var isCounting = false
        var isFinished = false
        for line in lines {
            if let known = line.plan { plan = known }
            if let pair = line.pair { pairs.append(pair) }
            counted += line.counted ?? []
            uncounted += line.uncounted ?? []
            if line.counted != nil { isCounting = true }
            if line.uncounted != nil { isCounting = false }
            if let ended = line.ended { isFinished = ended.exitCode != 130 }
        }
        guard let plan, plan.version == ComparisonPlan.currentVersion else {
            throw DamagedReport("\(path): this is no comparison of this version")
        }
        return ComparisonRecord(
            plan: plan, pairs: pairs, counted: counted, isCounting: isCounting, uncounted: uncounted,
            environment: environment, isFinished: isFinished)
    }

    /// The state that the pairs lead to; `next` names the pair that comes behind them.
    /// - Throws: `DamagedReport` where they are not those that the plan leads to.
    public func replayed() throws -> ComparisonEngine {
        do {
            return try ComparisonEngine(plan, counted: counted, replaying: pairs)
        } catch {
            throw DamagedReport("\(Self.journalName): \(error)")
        }
    }
}
