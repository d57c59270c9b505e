// The baseline that a run is compared with, and the one that it is saved as: `--baseline` and `--save-baseline`.
import ArgumentParser
import TidegaugeMeasure
import TidegaugeReport
import TidegaugeRun

struct RunBaselines {
    private let root: String
    /// Name of the baseline to compare with.
    private let compared: String?
    /// Name of the baseline that is written if the run passes.
    private let saved: String?
    /// Baseline to compare with, read before the run, which may replace it.
    private let kept: RunBaseline.Kept?
    /// Baseline made from the run, available from its end.
    private var figures: RunBaseline?
    private var comparison: BaselineComparison?

    /// Reads the baseline, and checks the folder of a new one, before anything is measured.
    /// - Parameter root: folder of all runs.
    init(_ header: RunHeader, in root: String) throws {
        (self.root, compared, saved) = (root, header.baseline, header.savedBaseline)
        do {
            kept = try compared.flatMap { try RunBaseline.read($0, in: root) }
        } catch let error as DamagedReport {
            throw ValidationError("--baseline: \(error)")
        }
        if let compared, kept == nil, compared != saved {
            throw ValidationError(
                "--baseline: there is no \(RunBaseline.path(compared, in: root)); --save-baseline \(compared) makes one of "
                    + "this run or another")
        }
        if saved != nil { try refusingFolder { try ReportFolder.prepare("\(root)/\(RunBaseline.folderName)") } }
    }

    /// Compares a finished run with the baseline. Called before its pages are made, which show the result.
    /// - Parameters:
    ///   - directory: folder of the run.
    ///   - environment: complete environment, which the folder does not have yet.
    /// - Returns: nil if there is no baseline to compare with.
    mutating func compare(_ directory: String, _ environment: EnvironmentReport) throws -> BaselineComparison? {
        guard compared != nil || saved != nil else { return nil }
        var record = try RunRecord.load(directory)
        record.environment = environment
        let run = RunBaseline(record)
        figures = run
        comparison = compared.flatMap { name in kept.map { BaselineComparison(run, since: $0, name: name) } }
        return comparison
    }

    /// Saves the baseline of the run, if one was requested and the run passed.
    /// - Returns: a line per figure that became worse, and a summary of a few lines.
    func end(_ outcome: Outcome) throws -> (details: [String], summary: [String]) {
        var summary = comparison?.summary ?? []
        if let saved, let figures { summary.append(try save(figures, saved, outcome)) }
        return (comparison?.details ?? [], summary)
    }

    private func save(_ baseline: RunBaseline, _ name: String, _ outcome: Outcome) throws -> String {
        guard outcome == .pass else {
            let why = outcome == .interrupted ? "was interrupted" : "did not pass"
            return "baseline '\(name)': not written: the run \(why)"
        }
        try baseline.write(name, in: root)
        let hint = compared == name && kept == nil ? ", the first one here: the next run is compared with it" : ""
        return "baseline '\(name)': written to \(RunBaseline.path(name, in: root))\(hint)"
    }
}
