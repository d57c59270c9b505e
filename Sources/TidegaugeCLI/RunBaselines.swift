// What a run is held against, and what is kept of it for the next: `--baseline` and `--save-baseline`.
import ArgumentParser
import Report
import Runs

struct RunBaselines {
    private let root: String
    /// Name of the baseline that the run is held against.
    private let compared: String?
    /// Name of the one that is written where the run passes.
    private let saved: String?
    /// Read before the run, which may replace it.
    private let kept: RunBaseline.Kept?

    /// Everything that can be wrong with them is found before anything is measured.
    /// - Parameter root: the folder of all runs.
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

    /// Holds the run against the one and writes the other.
    /// - Parameter directory: of the run, which has ended.
    /// - Returns: a line for each figure that became worse, and the whole in a few lines.
    func end(_ outcome: Outcome, _ directory: String) throws -> (details: [String], summary: [String]) {
        guard compared != nil || saved != nil else { return ([], []) }
        let baseline = RunBaseline(try RunRecord.load(directory))
        var (details, summary): ([String], [String]) = ([], [])
        switch (compared, kept) {
        case (let name?, .baseline(let earlier)?):
            let comparison = BaselineComparison(baseline, since: earlier, name: name)
            (details, summary) = (comparison.details, comparison.summary)
        case (let name?, .otherVersion(let version)?):
            summary.append(
                "baseline '\(name)': not compared: its format has version \(version), and this tidegauge's "
                    + "\(RunBaseline.currentVersion)")
        case (nil, _), (_, nil): break
        }
        if let saved { summary.append(try save(baseline, saved, outcome)) }
        return (details, summary)
    }

    private func save(_ baseline: RunBaseline, _ name: String, _ outcome: Outcome) throws -> String {
        guard outcome == .pass else {
            let why = outcome == .interrupted ? "was interrupted" : "did not pass"
            return "baseline '\(name)': not written: the run \(why)"
        }
        try baseline.write(name, in: root)
        let hint = compared == name && kept == nil ? ", the first one here: the next run is held against it" : ""
        return "baseline '\(name)': written to \(RunBaseline.path(name, in: root))\(hint)"
    }
}
