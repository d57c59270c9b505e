// Folder of a comparison. All other files are made from its journal `comparison.ndjson`, which holds the plan and
// then one line per pair, on disk before the next pair begins. Decisions are recomputed from it with the same result.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure

/// Content of a comparison's folder.
public struct ComparisonRecord: Sendable {
    public static let journalName = "comparison.ndjson"

    public var plan: ComparisonPlan
    public var pairs: [PairRecord] = []
    /// Counted figures, recorded before all pairs.
    public var counted: [CountedRow] = []
    /// Whether counting began but did not finish.
    public var isCounting = false
    /// Points that could not be counted, with the reason.
    public var uncounted: [OneSided] = []
    public var environment: EnvironmentReport
    /// Whether the comparison finished.
    public var isFinished = false

    /// A line of the journal: exactly one field is set.
    struct Line: Codable {
        var plan: ComparisonPlan?
        var pair: PairRecord?
        var counted: [CountedRow]?
        var uncounted: [OneSided]?
        var ended: EndRecord?

        func text() throws -> String { try JSONLines.text(self) }
    }

    /// Creates the record of a new comparison.
    public init(_ plan: ComparisonPlan, _ environment: EnvironmentReport) {
        (self.plan, self.environment) = (plan, environment)
    }

    public static func isComparison(_ directory: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(directory)/\(journalName)")
    }

    /// - Throws: `DamagedReport` if the folder holds no comparison of this version.
    public static func load(_ directory: String) throws -> ComparisonRecord {
        let path = "\(directory)/\(journalName)"
        let lines: [Line] = try JSONLines.read(path, "a comparison", hint: "is this the folder of a comparison?")
        guard let plan = lines.lazy.compactMap(\.plan).last, plan.isReadable else {
            throw DamagedReport("\(path): this is no comparison of this version")
        }
        let isPlausible = { (line: Line) in
            line.pair?.isPlausible ?? true && line.counted?.allSatisfy(\.isPlausible) ?? true
        }
        if let place = lines.firstIndex(where: { !isPlausible($0) }) {
            throw DamagedReport("\(path):\(place + 1): it holds a number that no trial has; compare anew")
        }
        var record = ComparisonRecord(plan, try EnvironmentJSON.read(directory))
        for line in lines {
            if let pair = line.pair { record.pairs.append(pair) }
            record.counted += line.counted ?? []
            record.uncounted += line.uncounted ?? []
            if line.counted != nil { record.isCounting = true }
            if line.uncounted != nil { record.isCounting = false }
            if let ended = line.ended { record.isFinished = ended.exitCode != 130 }
        }
        return record
    }

    /// Returns the state that the recorded pairs lead to. `next` then returns the following pair.
    /// - Throws: `DamagedReport` if the pairs do not follow the plan.
    public func replayed() throws -> ComparisonEngine {
        do {
            return try ComparisonEngine(plan, counted: counted, replaying: pairs)
        } catch {
            throw DamagedReport("\(Self.journalName): \(error)")
        }
    }
}
