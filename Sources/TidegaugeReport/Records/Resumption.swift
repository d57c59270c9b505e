// Resumes an interrupted run: finds the finished trials, and removes the others from its folder.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The finished part of a run.
public struct Resumption: Sendable {
    public let record: RunRecord
    /// Trials that were not interrupted, with any result.
    public let finished: [TrialKey: TrialRecord]

    /// Reads the folder without changing it.
    /// - Throws: `DamagedReport`.
    public init(_ directory: String) throws {
        record = try RunRecord.load(directory)
        finished = Dictionary(
            record.trials.filter { $0.fate != .interrupted }.map { ($0.key, $0) }, uniquingKeysWith: { _, last in last }
        )
    }

    /// Rows of finished trials, without figures that compare drivers, which are recomputed.
    public var keptRows: [RunRow] {
        record.rows.filter { finished[TrialKey($0)] != nil && $0.figure.metric.entry.source != .peers }
    }

    /// Figures of a finished trial.
    public func figures(of trial: TrialKey) -> [Figure] { keptRows.filter { TrialKey($0) == trial }.map(\.figure) }

    /// Returns the differences between the run and the current scenarios and binary, one sentence each; may be empty.
    public func differences(binary: String, scenarios: [ScenarioRecord], trials: [TrialSpec]) -> [String] {
        var differences: [String] = []
        if binary != record.header.binary {
            differences.append(
                "the binary is another one (\(binary), not \(record.header.binary)): build that commit again")
        }
        for old in record.header.scenarios {
            guard let new = scenarios.first(where: { $0.name == old.name }) else {
                differences.append("\(old.path): the scenario is gone")
                continue
            }
            if new.sha != old.sha { differences.append("\(old.path): the scenario has changed since the run began") }
        }
        let specs = Dictionary(trials.map { (TrialKey($0), $0) }, uniquingKeysWith: { first, _ in first })
        for trial in record.trials where differences.isEmpty && specs[trial.key] != trial.spec {
            differences.append("\(trial.spec.scenario) on \(trial.spec.driver): its trials would no longer be the same")
        }
        return differences
    }

    /// Removes rows, intervals, hangs and events that are not of finished trials from the folder's files, and figures
    /// that compare drivers. They are measured, judged and fitted again.
    public func clean(_ directory: String) throws {
        let keys = Set(finished.keys)
        let rows = keptRows
        try ReportFile.replace(
            "\(directory)/\(MetricsCSV.fileName)",
            with: (CSV.line(MetricsCSV.columns) + rows.map(MetricsCSV.line).joined()).utf8)
        let seriesPath = "\(directory)/\(SeriesCSV.fileName)"
        if let text = try? String(contentsOfFile: seriesPath, encoding: .utf8) {
            let kept = CSV.records(text).filter { record in
                SeriesCSV.point(record).map { keys.contains($0.trial) } ?? (record == SeriesCSV.columns)
            }
            try ReportFile.replace(seriesPath, with: kept.map(CSV.line).joined().utf8)
        }
        let hangsPath = "\(directory)/\(HangReports.fileName)"
        if let text = try? String(contentsOfFile: hangsPath, encoding: .utf8) {
            let kept = CSV.records(text).filter { HangReports.trial($0).map(keys.contains) ?? false }
            if kept.isEmpty {
                guard unlink(hangsPath) == 0 else { throw ReportError("remove it", hangsPath, errno: errno) }
            } else {
                try ReportFile.replace(hangsPath, with: ([HangReports.columns] + kept).map(CSV.line).joined().utf8)
            }
        }
        let inOrder = record.trials.filter { $0.fate != .interrupted }.map { RunEvent.trial($0) }
        let lines = try ([RunEvent.run(record.header)] + inOrder).map { try $0.line() }
        try ReportFile.replace("\(directory)/\(Journal.fileName)", with: lines.joined().utf8)
    }
}
