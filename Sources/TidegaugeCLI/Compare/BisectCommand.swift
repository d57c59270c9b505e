// `tidegauge bisect`: which commit made a gate slower: `compare` against the good end, again and again.
import ArgumentParser
import Comparison
import Foundation

struct BisectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect", abstract: "Find the commit from which on a scenario is slower.",
        discussion: """
            GOOD and BAD are compared first: without a regression between them there is nothing to find. Then the middle of \
            what is left is compared with GOOD until one commit remains. Exit codes: 0 found, 2 the ends do not differ, or a \
            commit is too noisy to be told.
            """)

    @Argument(help: "A commit before it was slower.")
    var good: String

    @Argument(help: "A commit that is slower.")
    var bad = "HEAD"

    @Option(help: "Scenarios whose gate is this metric, and no others.", completion: Completions.metrics)
    var metric: String?

    @OptionGroup var options: CompareOptions

    func validate() throws { try options.check() }

    func run() throws {
        try options.prepareOut()
        let run = CompareRun(isQuiet: options.quiet)
        let repository: Repository
        var left: [String]
        do {
            repository = try Repository()
            let ends = (try repository.revision(good).commit, try repository.revision(bad).commit)
            left = try repository.commits(after: ends.0, upTo: ends.1)
        } catch let error as ShellFailure {
            throw ValidationError("\(error)")
        }
        guard let last = left.last else { throw ValidationError("no commit lies after \(good) up to \(bad)") }
        // The gates that are red at the bad end are those that are looked for.
        var wanted: Set<String> = []
        wanted = try reds(last, run, wanted)
        guard !wanted.isEmpty else {
            print("\(bad) is not slower than \(good): there is nothing to find")
            throw ExitCode(.inconclusive)
        }
        run.note("looking for \(wanted.sorted().joined(separator: ", ")) among \(left.count) commits")
        while left.count > 1 {
            let middle = (left.count - 1) / 2
            let isRed = !(try reds(left[middle], run, wanted)).isEmpty
            run.note(
                "\(left[middle].prefix(12)) is \(isRed ? "slower" : "not slower"): \(repository.subject(of: left[middle]))"
            )
            left = isRed ? Array(left[...middle]) : Array(left[(middle + 1)...])
        }
        print("\(left[0].prefix(12)) \(repository.subject(of: left[0]))")
        print("from it on: \(wanted.sorted().joined(separator: ", "))")
    }

    /// Gates that are red between the good end and `commit`; of `wanted`, where there is something looked for.
    private func reds(_ commit: String, _ run: CompareRun, _ wanted: Set<String>) throws -> Set<String> {
        let sides = try ComparedSides(base: good, head: commit, options, run)
        var plan = try sides.plan(options)
        plan.subjects.removeAll {
            (metric != nil && $0.gate != metric) || !(wanted.isEmpty || wanted.contains($0.title))
        }
        guard !plan.subjects.isEmpty else { throw ValidationError("no scenario has the gate '\(metric ?? "")'") }
        var engine = ComparisonEngine(plan)
        try run.pool(&engine, sides.binaries, "\(options.out)/bisect-trials") { _ in }
        guard !run.interruption.isRaised else { throw ExitCode(.interrupted) }
        return Set(engine.tracks.filter { $0.state == .confirmed }.map(\.subject.title))
    }
}
