// Folder of a comparison. Pages and tables are made from its journal `comparison.ndjson`, which holds the plan, counts
// and one line per pair, on disk before the next pair begins. Decisions are recomputed from it with the same result.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure

/// Content of a comparison's folder.
public struct ComparisonRecord: Sendable {
    public static let journalName = "comparison.ndjson"

    public var plan: ComparisonPlan
    public var pairs: [PairRecord] = []
    /// Counted figures.
    public var counted: [CountedRow] = []
    /// Whether counting began but did not finish.
    public var isCounting = false
    /// Points that could not be counted, with the reason.
    public var uncounted: [OneSided] = []
    public var environment: EnvironmentReport
    /// Whether the comparison finished.
    public var isFinished = false

    /// Creates the record of a new comparison.
    public init(_ plan: ComparisonPlan, _ environment: EnvironmentReport) {
        (self.plan, self.environment) = (plan, environment)
    }

    public static func isComparison(_ directory: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(directory)/\(journalName)")
    }

    /// - Throws: `DamagedReport` if the folder holds no valid comparison of this version.
    public static func load(_ directory: String) throws -> ComparisonRecord {
        let path = "\(directory)/\(journalName)"
        let lines: [ComparisonLine] = try JSONLines.read(
            path, "a comparison", hint: "is this the folder of a comparison?")
        guard let plan = lines.lazy.compactMap(\.plan).last, plan.isReadable else {
            throw DamagedReport("\(path): this is no comparison of this version")
        }
        if let place = lines.firstIndex(where: { !$0.isPlausible }) {
            throw DamagedReport("\(path):\(place + 1): it holds a number that no trial has; compare anew")
        }
        var record = ComparisonRecord(plan, try EnvironmentJSON.read(directory))
        for line in lines { record.take(line) }
        return record
    }

    private mutating func take(_ line: ComparisonLine) {
        switch line {
        case .plan: break
        case .pair(let pair): pairs.append(pair)
        case .counted(let rows):
            counted += rows
            isCounting = true
        case .uncounted(let points):
            uncounted += points
            isCounting = false
        case .ended(let end): isFinished = end.exitCode != 130
        }
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
