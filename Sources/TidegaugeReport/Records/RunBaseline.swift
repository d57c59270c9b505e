// Figures of a run, kept to hold the next one against: `Reports/baselines/NAME.json`. What was counted is kept whole; of what
// clocks say, each scenario's gate, where it is a time or a rate.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// A run as the next one looks back on it.
public struct RunBaseline: Codable, Sendable, Equatable {
    public static let currentVersion = 1
    public static let folderName = "baselines"

    /// What two runs have to share for their figures to be comparable.
    struct Origin: Codable, Equatable {
        var cpuModel: String
        var cores: Int
        var architecture: String
        var buildConfiguration: String
        var profile: Profile
        var seed: UInt64?
        var overrides: [String]
        /// Of its counted trials; nil where it had none, which is no difference.
        var counter: InstructionCounter?
        /// nil in a baseline that was kept before methods were told apart.
        var countMethod: Int? = InstructionCounter.method
    }

    /// One figure at one point of a sweep, in every trial that has it.
    struct Series: Codable, Equatable {
        var name: Name
        var values: [Double]
    }

    struct Name: Codable, Hashable {
        var scenario: String
        var driver: String
        var variant: String
        var metric: Metric
        var statistic: Statistic
    }

    var version = RunBaseline.currentVersion
    public var runID: String
    var origin: Origin
    /// Means of those that were steady.
    var yardsticksNs: [Yardstick: Double]
    /// Checksums of the files, by name: a scenario that was changed since asks something else.
    var scenarios: [String: String]
    var series: [Series]

    /// Of a run that has ended.
    public init(_ record: RunRecord) {
        let environment = record.environment
        runID = record.runID
        origin = Origin(
            cpuModel: environment.cpuModel, cores: environment.cores, architecture: environment.architecture,
            buildConfiguration: environment.buildConfiguration, profile: record.header.profile,
            seed: record.header.seed,
            overrides: record.header.overrides.sorted(),
            counter: record.rows.lazy.flatMap(\.figure.flags).compactMap(\.counter).first)
        yardsticksNs = (environment.yardsticks ?? [:]).compactMapValues(\.meanNs)
        scenarios = Dictionary(
            record.header.scenarios.map { ($0.name, $0.sha) }, uniquingKeysWith: { first, _ in first })
        // Clocks of a disturbed trial are about its neighbours.
        let noisy = Set(record.rows.filter { $0.figure.flags.contains { $0.word == .noisy } }.map { TrialKey($0) })
        let gates = Dictionary(
            record.header.scenarios.map { ($0.name, $0.gate) }, uniquingKeysWith: { first, _ in first })
        let kept = record.rows.filter { row in
            let isGate = row.figure.metric == gates[row.scenario] && !noisy.contains(TrialKey(row))
            return row.variant != RunRow.overSweep && Self.keeps(row.figure, isGate: isGate)
        }
        let values = Dictionary(grouping: kept) { Name($0) }.mapValues { $0.compactMap(\.figure.value) }
        series = Digest.inOrder(kept.map { Name($0) }).compactMap { name in
            values[name].flatMap { $0.isEmpty ? nil : Series(name: name, values: $0) }
        }
    }

    private static func keeps(_ figure: Figure, isGate: Bool) -> Bool {
        let entry = figure.metric.entry
        guard entry.subject == .store, entry.worse != .neither else { return false }
        switch entry.kind {
        case .allocation, .instruction, .access, .holding: return true
        // Promises need nothing to be compared with.
        case .event: return false
        case .processor, .clock:
            return isGate && figure.statistic.rawValue == figure.metric.defaultStatistic
                && (entry.unit.isTime || entry.unit.isRate)
        }
    }

    // MARK: Files

    /// Where the baseline of a name is, in the folder of all runs.
    public static func path(_ name: String, in root: String) -> String { "\(root)/\(folderName)/\(name).json" }

    /// Why a text is no name of a baseline; nil where it is one.
    public static func objection(to name: String) -> String? {
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        guard !isPlain || name.isEmpty || name.hasPrefix(".") || name.count > 100 else { return nil }
        return
            "'\(name)' is no name of a baseline: letters, digits, '-', '_' and '.' are, a hundred of them at most, and no "
            + "'.' first"
    }

    /// A baseline that was kept, or why it is of no use to this program.
    public enum Kept: Sendable, Equatable {
        case baseline(RunBaseline)
        /// Written by a tidegauge that kept something else in it.
        case otherVersion(Int)
    }

    /// nil where there is none.
    /// - Throws: `DamagedReport` where the file is no baseline.
    public static func read(_ name: String, in root: String) throws(DamagedReport) -> Kept? {
        let path = path(name, in: root)
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        struct Head: Decodable { var version: Int }
        guard let json = FileManager.default.contents(atPath: path),
            let head = try? JSONDecoder().decode(Head.self, from: json)
        else { throw DamagedReport("\(path): this is no baseline; remove it, and --save-baseline \(name) makes one") }
        guard head.version == currentVersion else { return .otherVersion(head.version) }
        guard let baseline = try? JSONDecoder().decode(RunBaseline.self, from: json), baseline.isPlausible else {
            throw DamagedReport("\(path): this baseline is damaged; remove it, and --save-baseline \(name) makes one")
        }
        return .baseline(baseline)
    }

    private var isPlausible: Bool {
        yardsticksNs.values.allSatisfy(Figure.isPlausible)
            && series.allSatisfy { $0.values.allSatisfy(Figure.isPlausible) }
    }

    /// Replaces the baseline of that name.
    /// - Throws: `ReportError`.
    public func write(_ name: String, in root: String) throws {
        try ReportFolder.make("\(root)/\(Self.folderName)")
        try ReportFile.replace(Self.path(name, in: root), with: JSONLines.text(self).utf8)
    }
}

extension RunBaseline.Name {
    init(_ row: RunRow) {
        self.init(
            scenario: row.scenario, driver: row.driver, variant: row.variant, metric: row.figure.metric,
            statistic: row.figure.statistic)
    }

    /// `result-size stillingwell dataset.items=1000 upkeep_cost`.
    var text: String {
        let statistic = statistic == .value ? "" : statistic.rawValue
        return [scenario, driver, variant, metric.rawValue, statistic].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
