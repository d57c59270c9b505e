// A comparison's folder: journal first, everything else made of it. `comparison.ndjson` holds the plan and then a line for
// each pair, on disk before the next begins; what is decided is decided anew from it, and comes out the same.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure

/// What a comparison's folder holds.
public struct ComparisonRecord: Sendable {
    public static let journalName = "comparison.ndjson"

    public var plan: ComparisonPlan
    public var pairs: [PairRecord] = []
    /// Before any pair.
    public var counted: [CountedRow] = []
    /// Whether counting was begun, and not brought to its end.
    public var isCounting = false
    /// What was not counted, and why.
    public var uncounted: [OneSided] = []
    public var environment: EnvironmentReport
    /// Whether the comparison came to its end.
    public var isFinished = false

    /// One line: exactly one of its fields is there.
    struct Line: Codable {
        var plan: ComparisonPlan?
        var pair: PairRecord?
        var counted: [CountedRow]?
        var uncounted: [OneSided]?
        var ended: EndRecord?

        func text() throws -> String { try JSONLines.text(self) }
    }

    /// A comparison that begins.
    public init(_ plan: ComparisonPlan, _ environment: EnvironmentReport) {
        (self.plan, self.environment) = (plan, environment)
    }

    public static func isComparison(_ directory: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(directory)/\(journalName)")
    }

    /// - Throws: `DamagedReport` where the folder holds something else.
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
