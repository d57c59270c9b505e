// Figures of a run, kept for comparison with later runs: `Reports/baselines/NAME.json`. Contains counted figures of the
// store, and times and rates that are gates (the figures by which commits are compared).
import Foundation
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The baseline made from a run.
public struct RunBaseline: Codable, Sendable, Equatable {
    public static let currentVersion = 1
    public static let folderName = "baselines"

    /// Properties that two runs must share to be comparable; those of counting only if both have a `counter`.
    struct Origin: Codable, Equatable {
        var cpuModel: String
        var cores: Int
        var architecture: String
        var buildConfiguration: String
        var profile: Profile
        var seed: UInt64?
        var overrides: [String]
        /// Counter of the counted trials; nil if there were none.
        var counter: InstructionCounter?
        /// nil in baselines of older versions.
        var countMethod: Int? = InstructionCounter.method
    }

    /// One figure at one sweep point, with its values in several trials.
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
    /// Means of the steady yardsticks, in ns.
    var yardsticksNs: [Yardstick: Double]
    /// Checksums of the scenario files by name. Changed scenarios are not compared.
    var scenarios: [String: String]
    var series: [Series]

    /// Creates the baseline of a finished run.
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
        // Times and rates of disturbed trials are left out.
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
        // Events have fixed bounds and need no comparison.
        case .event: return false
        case .processor, .clock:
            return isGate && figure.statistic.rawValue == figure.metric.defaultStatistic
                && (entry.unit.isTime || entry.unit.isRate)
        }
    }

    // MARK: Files

    /// Path of a baseline in the folder of all runs.
    public static func path(_ name: String, in root: String) -> String { "\(root)/\(folderName)/\(name).json" }

    /// Returns why a text is not a valid name of a baseline, or nil if it is.
    public static func objection(to name: String) -> String? {
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        guard !isPlain || name.isEmpty || name.hasPrefix(".") || name.count > 100 else { return nil }
        return
            "'\(name)' is no name of a baseline: letters, digits, '-', '_' and '.' are, a hundred of them at most, and no "
            + "'.' first"
    }

    /// A stored baseline, or the version of one that cannot be used.
    public enum Kept: Sendable, Equatable {
        case baseline(RunBaseline)
        /// Written by a tidegauge with another format version.
        case otherVersion(Int)
    }

    /// Reads a baseline. Returns nil if there is none.
    /// - Throws: `DamagedReport` if the file cannot be read, is not a baseline, or is damaged.
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

    /// Writes the baseline, replacing an earlier one of that name.
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

    /// Text such as `result-size stillingwell dataset.items=1000 upkeep_cost`.
    var text: String {
        let statistic = statistic == .value ? "" : statistic.rawValue
        return [scenario, driver, variant, metric.rawValue, statistic].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
