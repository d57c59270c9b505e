// A whole run as a value, read from its folder. The formats written at the end are made from it, so that `tidegauge
// report` produces the same files.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The content of a run's folder.
public struct RunRecord: Sendable {
    public var runID: String
    public var header = RunHeader()
    public var environment: EnvironmentReport
    public var rows: [RunRow] = []
    public var trials: [TrialRecord] = []
    public var skipped: [SkippedRecord] = []
    public var judgements: [Judgement] = []
    /// nil for a running or killed run.
    public var end: EndRecord?
    /// nil if the run was not compared with a baseline.
    var compared: BaselineComparison?
    var series: [SeriesCSV.Point] = []
    var samples: [TrialKey: [Metric: HistogramLogs.Samples]] = [:]

    /// Reads the folder of a finished or interrupted run.
    /// - Throws: `DamagedReport` if the journal, environment.json or metrics.csv is missing, damaged or of another
    ///   version.
    public static func load(_ directory: String) throws -> RunRecord {
        func data(_ name: String) throws -> Data {
            guard let data = FileManager.default.contents(atPath: "\(directory)/\(name)") else {
                throw DamagedReport("\(directory)/\(name): there is no such file; is this the folder of a run?")
            }
            return data
        }
        let journal = try Journal.read("\(directory)/\(Journal.fileName)")
        let folder = URL(fileURLWithPath: directory).resolvingSymlinksInPath().lastPathComponent
        var record = RunRecord(runID: folder, environment: try EnvironmentJSON.read(directory))
        for event in journal { record.take(event) }
        let lines = CSV.records(String(decoding: try data(MetricsCSV.fileName), as: UTF8.self))
        for (number, fields) in lines.enumerated().dropFirst() {
            guard let row = MetricsCSV.row(fields) else {
                throw DamagedReport(
                    "\(directory)/\(MetricsCSV.fileName): record \(number + 1) is none of this version; use the tidegauge "
                        + "that wrote it")
            }
            record.rows.append(row)
        }
        if let run = record.rows.first { record.runID = run.runID }
        if let series = try? data(SeriesCSV.fileName) {
            record.series = CSV.records(String(decoding: series, as: UTF8.self)).compactMap(SeriesCSV.point)
        }
        record.readHistograms(directory + "/" + HistogramLogs.folderName)
        return record
    }

    /// The gate of each scenario: the metric by which commits are compared.
    var gates: [String: Metric] {
        Dictionary(header.scenarios.map { ($0.name, $0.gate) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func take(_ event: RunEvent) {
        switch event {
        case .run(let request): header = request
        case .trial(var trial):
            trial.spec.variant = RenamedWords.variant(trial.spec.variant)
            trials.append(trial)
        case .skipped(let record): if !skipped.contains(record) { skipped.append(record) }
        case .judged(var judgement):
            if let recorded = judgement.held?.variant { judgement.held?.variant = RenamedWords.variant(recorded) }
            judgements.append(judgement)
        case .ended(let record): end = record
        case .compared(let comparison): compared = comparison
        }
    }

    private mutating func readHistograms(_ folder: String) {
        for name in ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
        where name.hasSuffix(".hlog") {
            guard let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8),
                let log = HistogramLogs.read(text)
            else { continue }
            samples[log.trial] = log.samples
        }
    }
}

// Frequently used values.
extension RunRecord {
    /// Names of the scenarios in the order of the run.
    var scenarioNames: [String] {
        Digest.inOrder(rows.map(\.scenario) + trials.map(\.spec.scenario) + skipped.map(\.scenario))
    }

    func scenario(_ name: String) -> ScenarioRecord? { header.scenarios.first { $0.name == name } }

    /// Trials with another fate than `completed`.
    var voided: [TrialRecord] { trials.filter { $0.fate != .completed } }

    /// The worst result of the run in words.
    var verdict: (word: String, isGood: Bool) {
        guard let end else { return ("not finished", false) }
        if end.exitCode == 130 || trials.contains(where: { $0.fate == .interrupted }) { return ("interrupted", false) }
        if trials.contains(where: { $0.fate == .hang }) { return ("hang", false) }
        if trials.contains(where: { $0.fate == .oracleViolation }) { return ("promise broken", false) }
        if !voided.isEmpty { return ("trials failed", false) }
        if judgements.contains(where: { $0.verdict == .broken }) { return ("limit broken", false) }
        let unknown = judgements.count { $0.verdict == .unknown }
        return (unknown == 0 ? "pass" : "pass, \(Humanised.count(unknown, "limit")) unknown", true)
    }
}
