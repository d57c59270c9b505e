// hangs.csv: one line per hang or warning. Each hang has a file `hangs/N.json` with the trial's spec and the whole
// record of the hang, and, if events were recorded, `hangs/N.trace.json` with the last events of each thread, for
// Perfetto. Without hangs and warnings there are no files.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// Appends to `hangs.csv` in the run's folder.
public final class HangReports: ReportFormat {
    public static let fileName = "hangs.csv"
    public static let folderName = "hangs"
    public static let columns = [
        "run_id", "scenario", "driver", "variant", "trial", "seed", "kind", "cycle", "sentence", "after_ms", "expected",
        "replay",
    ]

    private var run: ReportedRun?
    private var file: AppendedFile?
    private var count = 0

    public init() {}

    public func begin(_ run: ReportedRun) throws {
        self.run = run
        count = Self.numbers(in: run.directory).max() ?? 0
    }

    public func add(_ event: RunEvent) throws {
        guard case .trial(let trial) = event, let hangs = trial.hangs, let run else { return }
        let file = try opened(run)
        for hang in hangs {
            var replay = ""
            if hang.kind != .inversion {
                count += 1
                let path = "\(run.directory)/\(Self.folderName)/\(count).json"
                try write(ReplayableHang(spec: trial.spec, hang: hang), to: path, trial.key)
                replay = "tidegauge replay \(path)"
            }
            try file.append(Self.line(hang, of: trial.spec, runID: run.runID, replay: replay))
        }
    }

    private func opened(_ run: ReportedRun) throws -> AppendedFile {
        if let file { return file }
        let folder = "\(run.directory)/\(Self.folderName)"
        try ReportFolder.make(folder)
        let new = try AppendedFile("\(run.directory)/\(Self.fileName)", header: CSV.line(Self.columns))
        file = new
        return new
    }

    /// Returns the numbers of existing files, in a resumed run.
    private static func numbers(in directory: String) -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(folderName)")) ?? []
        return names.compactMap { $0.split(separator: ".").first.flatMap { Int32($0) }.map { Int($0) } }
    }

    private func write(_ hang: ReplayableHang, to path: String, _ trial: TrialKey) throws {
        try ReportFile.replace(path, with: (JSONFile.text(hang, isPretty: true) + "\n").utf8)
        guard !hang.hang.events.isEmpty else { return }
        let events = try ChromeTrace.events(hang.hang.events, of: trial, process: 1)
        let text = "[\n" + events.joined(separator: ",\n") + "\n]\n"
        try ReportFile.replace(path.replacing(".json", with: ".trace.json"), with: text.utf8)
    }

    /// Returns the trial of a record, or nil for the header and for damaged records.
    static func trial(_ record: [String]) -> TrialKey? {
        guard record.count == columns.count, let trial = Int(record[4]) else { return nil }
        return TrialKey(scenario: record[1], driver: record[2], variant: record[3], trial: trial)
    }

    /// Returns one row with its line end.
    static func line(_ hang: HangRecord, of spec: TrialSpec, runID: String, replay: String) -> String {
        CSV.line([
            runID, spec.scenario, spec.driver, spec.variant, "\(spec.trial)", "\(spec.seed)", hang.kind.rawValue,
            hang.cycle.joined(separator: ";"), hang.sentence, "\(hang.afterNs / 1_000_000)",
            hang.isExpected ? "true" : "false", replay,
        ])
    }
}

/// Input of `tidegauge replay`: the trial and the hang to compare with.
public struct ReplayableHang: Codable, Sendable {
    public var spec: TrialSpec
    public var hang: HangRecord
}
