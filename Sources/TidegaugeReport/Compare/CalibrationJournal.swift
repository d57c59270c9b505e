// Journal of a calibration: the plan, then one line per pair, on disk before the next pair begins. An interrupted
// calibration is resumed from it. Used by one thread.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure

public final class CalibrationJournal {
    /// Plan of a calibration.
    public struct Work: Codable, Sendable, Equatable {
        public static let currentVersion = 2

        public var version = Work.currentVersion
        public var plan: ComparisonPlan
        /// Number of comparisons of the binary with itself.
        public var comparisons: Int
        /// Number of comparisons per flaw.
        public var power: Int
        /// Slowdowns to inject.
        public var flaws: [String]

        public init(plan: ComparisonPlan, comparisons: Int, power: Int, flaws: [String]) {
            (self.plan, self.comparisons, self.power, self.flaws) = (plan, comparisons, power, flaws)
        }
    }

    /// One comparison: its kind (null or a flaw) and its number.
    private struct Place: Hashable {
        var kind: String
        var number: Int
    }

    /// A line: either the plan, or a pair and its comparison.
    private struct Line: Codable {
        var work: Work?
        var kind: String?
        var number: Int?
        var pair: PairRecord?
    }

    public let work: Work
    private var pairs: [Place: [PairRecord]] = [:]
    private let file: AppendedFile

    public static func path(_ root: String) -> String {
        "\(root)/\(Calibration.folderName)/\(MachineKey.current).ndjson"
    }

    /// Begins a calibration and replaces an earlier journal.
    public init(_ root: String, _ work: Work) throws {
        self.work = work
        try ReportFolder.make("\(root)/\(Calibration.folderName)")
        try ReportFile.replace(Self.path(root), with: try JSONLines.text(Line(work: work)).utf8)
        file = try AppendedFile(Self.path(root))
    }

    /// Resumes an interrupted calibration.
    public init(resuming root: String) throws {
        let path = Self.path(root)
        let lines: [Line] = try JSONLines.read(
            path, "a calibration", hint: "nothing was interrupted on this kind of machine")
        guard let work = lines.first?.work, work.version == Work.currentVersion, work.plan.isReadable else {
            throw DamagedReport("\(path): this is no calibration of this version")
        }
        self.work = work
        for line in lines.dropFirst() {
            guard let kind = line.kind, let number = line.number, let pair = line.pair, pair.isPlausible else {
                throw DamagedReport("\(path): it holds a line that is no pair")
            }
            pairs[Place(kind: kind, number: number), default: []].append(pair)
        }
        file = try AppendedFile(path)
    }

    /// Returns a comparison in the state that its recorded pairs lead to.
    /// - Throws: `DamagedReport` if the pairs do not follow the plan.
    public func engine(_ plan: ComparisonPlan, kind: String, number: Int) throws -> ComparisonEngine {
        try ComparisonEngine(plan, replaying: pairs[Place(kind: kind, number: number), default: []])
    }

    /// Appends a pair without its samples, which are not used. It is on disk on return.
    public func add(_ pair: PairRecord, kind: String, number: Int) throws {
        try file.append(JSONLines.text(Line(kind: kind, number: number, pair: pair.withoutSamples)))
    }
}

extension ComparisonEngine {
    /// Replays recorded pairs. `next` then returns the following pair.
    /// - Throws: `DamagedReport` if the pairs do not follow the plan.
    init(_ plan: ComparisonPlan, counted: [CountedRow] = [], replaying pairs: [PairRecord]) throws {
        self.init(plan, counted: counted)
        for pair in pairs {
            guard let due = next(), due.subject == pair.subject, due.number == pair.number, due.stage == pair.stage,
                due.headFirst.count == pair.points.count
            else { throw DamagedReport("the pairs of a comparison are not those of its plan") }
            take(pair)
        }
    }
}

extension PairRecord {
    fileprivate var withoutSamples: PairRecord {
        var pair = self
        for index in pair.points.indices {
            pair.points[index].base.samples = []
            pair.points[index].head.samples = []
        }
        return pair
    }
}
