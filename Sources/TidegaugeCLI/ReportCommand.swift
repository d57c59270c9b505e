// `tidegauge report`: makes the pages of a run again from what its folder holds. Measures nothing.
import ArgumentParser
import Report

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Make report.html, report.json, junit.xml and summary.md of a run again.")

    @Argument(help: "The folder of a run, such as Reports/latest.", completion: .directory)
    var directory: String

    func run() throws {
        do {
            if ComparisonRecord.isComparison(directory) {
                try ComparisonReport.write(into: directory, Gnuplot())
                return print("Report: \(directory)/\(ComparisonReport.htmlName)")
            }
            let pages = FinalReports(drawing: Gnuplot())
            try pages.write(into: directory)
            for line in pages.lastLines { print(line) }
        } catch let error as DamagedReport {
            throw ValidationError("\(error)")
        } catch let error as ReportError {
            printError("error: \(error.problem); free some space, or make the report of a copy that you may write to")
            throw ExitCode(.fault)
        }
        print("Report: \(directory)/\(FinalReports.htmlName)")
    }
}
