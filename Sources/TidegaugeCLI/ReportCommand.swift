// `tidegauge report`: makes the pages of a run or a comparison again from its folder, or a page about two runs.
import ArgumentParser
import TidegaugeReport
import TidegaugeScenario
import TidegaugeSpec

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Rebuild a report, or compare two runs on one page.",
        discussion: """
            With the folder of one run: writes report.html, report.json, junit.xml and summary.md again. With two: writes \
            a page into the second folder. It shows what changed first, then the answers of both runs and their curves in \
            one picture.
            """)

    @Argument(
        help: ArgumentHelp(
            "Folder of a run, such as Reports/latest, or of two runs, the earlier one first.", valueName: "dir"),
        completion: .directory) var directories: [String]

    func validate() throws {
        guard directories.count <= 2 else {
            throw ValidationError("takes the folder of one run or of two, and was given \(directories.count)")
        }
    }

    func run() throws {
        do {
            let path = directories.count == 2 ? try pair() : try page(of: directories[0])
            print("Report: \(path)")
        } catch let error as DamagedReport {
            throw ValidationError("\(error)")
        } catch let error as ReportError {
            printError("error: \(error.problem); free some space, or make the report of a copy that you may write to")
            throw ExitCode(.fault)
        }
    }

    private func page(of directory: String) throws -> String {
        if ComparisonRecord.isComparison(directory) {
            try ComparisonReport.write(into: directory)
            return "\(directory)/\(ComparisonReport.htmlName)"
        }
        let pages = FinalReports(cell: Setting.cell)
        try pages.write(into: directory)
        for line in pages.lastLines { print(line) }
        return "\(directory)/\(FinalReports.htmlName)"
    }

    private func pair() throws -> String {
        let written = try PairReport.write(base: directories[0], head: directories[1])
        print(written.text, terminator: "")
        return written.path
    }
}
