// `tidegauge report`: makes the pages of a run again from its folder, or a page about two runs. Measures nothing.
import ArgumentParser
import TidegaugeReport
import TidegaugeScenario
import TidegaugeSpec

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Make the pages of a run again, or one page of two runs.",
        discussion: """
            Of one folder: report.html, report.json, junit.xml and summary.md, as the run wrote them at its end. Of two: a page in \
            the second one's folder with what changed first, both runs' answers and their curves over one another.
            """)

    @Argument(
        help: ArgumentHelp(
            "The folder of a run, such as Reports/latest; or of two, the earlier one first.", valueName: "dir"),
        completion: .directory) var directories: [String]

    func validate() throws {
        guard directories.count <= 2 else {
            throw ValidationError("takes one folder of a run, or two, and not \(directories.count)")
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
