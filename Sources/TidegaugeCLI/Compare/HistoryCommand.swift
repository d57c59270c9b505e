// `tidegauge history`: shows figures over commits; with --add, measures another commit beside the anchor, which is a
// fixed commit.
import ArgumentParser
import Foundation
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeReport

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show how the gates changed over commits, and where they became worse.",
        discussion: """
            Every point is measured beside one pinned anchor build, so that drift of the machine cancels. --add measures a \
            commit and appends it; without, nothing is measured.
            """)

    @OptionGroup(title: "Options as of compare") var options: CompareOptions

    @Option(help: ArgumentHelp("Commit to measure and append.", valueName: "commit"))
    var add: String?

    @Option(
        help: ArgumentHelp("Anchor commit (default: that of the last point in the history).", valueName: "commit"))
    var anchor: String?

    @Option(help: "File of the history (default: history.ndjson in the reports folder).")
    var file: String?

    @Option(help: "Number of points to show of each series.")
    var last = 20

    func validate() throws { try options.check() }

    func run() throws {
        let path = file ?? "\(options.out)/\(HistoryFile.fileName)"
        if let add {
            try options.prepareOut()
            try refusingFolder { try HistoryFile.check(path) }
            try measure(add, path)
        }
        do {
            let points = try HistoryFile.read(path)
            let anchors = Set(points.map(\.anchor))
            let anchor = points.last?.anchor
            let all = HistorySeries.all(points.filter { $0.anchor == anchor }).filter {
                options.isWanted($0.name.scenario)
            }
            let repository = try? Repository()
            print(HistoryTable.render(all, last: last) { repository?.subject(of: $0) ?? "" }, terminator: "")
            if anchors.count > 1 { print("\nonly points of the last anchor, \(anchor?.prefix(12) ?? ""), are shown") }
            let page = (path as NSString).deletingPathExtension + ".html"
            try HistoryPage.write(all, to: page)
            print("\nReport: \(page)")
        } catch let error as DamagedReport {
            throw ValidationError("\(error)")
        }
    }

    private func measure(_ commit: String, _ path: String) throws {
        let run = CompareRun(isQuiet: options.quiet)
        let known = (try? HistoryFile.read(path)) ?? []
        guard let anchor = anchor ?? known.last?.anchor else {
            throw ValidationError("--add begins a history: name its --anchor, a commit that stays buildable")
        }
        let sides = try ComparedSides(base: anchor, head: commit, options, run)
        let plan = try sides.plan(options)
        var engine = ComparisonEngine(plan)
        try run.pool(&engine, sides.binaries, "\(options.out)/history-trials") { _ in }
        guard !run.interruption.isRaised else { throw ExitCode(.interrupted) }
        let repository = try Repository()
        let position = Int(try repository.git(["rev-list", "--count", "--first-parent", plan.head.commit])) ?? 0
        let gates = Judge(engine).rows().filter { $0.isGate && $0.change != nil }
        for row in gates where row.isDifference {
            printError(
                "\(row.scenario) \(row.name): not added: a value that is zero or negative has no ratio to the anchor's")
        }
        let points = gates.filter { !$0.isDifference }.map {
            HistoryPoint(
                $0, commit: plan.head.commit, position: position, anchor: plan.base.commit, machine: MachineKey.current)
        }
        try HistoryFile.append(points, to: path)
    }
}
