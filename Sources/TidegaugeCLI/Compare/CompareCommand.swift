// `tidegauge compare`: decides whether a commit or binary is slower than another.
import ArgumentParser
import Foundation
import TidegaugeMeasure
import TidegaugeReport
import TidegaugeRun

struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Decide whether one commit is slower than another, and with what confidence.",
        discussion: """
            BASE and HEAD are commits, which are built; or binaries. An engine in another language is compared in its own \
            repository, with the command that builds a commit: compare main --build 'cargo build --release' --driver \
            ./target/release/engine. `tidegauge report A B` makes a page of two finished runs.
            Exit codes: 0 no gate is worse, 1 a gate regressed, 2 a gate is inconclusive or suspected, 3 the head hangs, 4 it breaks a \
            promise, 64 and 65 the command or a scenario is wrong, 69 a driver cannot run here, 70 a build or the harness failed, \
            130 interrupted. With --count-only: 0 nothing counted is worse, 1 something is, 2 it cannot be told of all.
            """)

    @Argument(help: "Commit or binary to compare with.")
    var base: String?

    @Argument(help: "Commit or binary to judge (default: the working tree).")
    var head: String?

    @OptionGroup var options: CompareOptions

    @Flag(
        help:
            "Count instructions, or the engine's own counters with --build, and run no timed pairs. Takes minutes, also on a busy machine. Waiting is not measured."
    )
    var countOnly = false

    @Option(
        help: ArgumentHelp(
            """
            Command of the shell that builds an engine of another language, run in a worktree of each commit. Each --driver is \
            then a command that starts in it. This binary measures both (default: build this Swift package).
            """, valueName: "command"))
    var build: String?

    @Option(
        help: ArgumentHelp(
            "Folder of an interrupted comparison to continue. The options of that comparison apply.", valueName: "dir"),
        completion: .directory) var resume: String?

    func validate() throws {
        if (base == nil) == (resume == nil) {
            throw ValidationError(
                "name BASE, or continue a comparison with --resume")
        }
        try options.check(areEngines: build != nil)
        guard countOnly else { return }
        if !options.count { throw ValidationError("--count-only and --no-count leave nothing to do") }
        if options.budget != nil { throw ValidationError("--budget is for pairs, and --count-only runs none") }
    }

    func run() throws {
        let outcome = try resume.map { try goOn($0) } ?? start(base!)
        if outcome != .pass { throw ExitCode(outcome) }
    }

    private func start(_ base: String) throws -> Outcome {
        if let head, Self.isRun(base), Self.isRun(head) {
            throw ValidationError(
                "\(base) and \(head) are folders of runs, and compare takes commits or binaries: "
                    + "tidegauge report \(base) \(head) makes a page of both")
        }
        try options.prepareOut()
        let run = CompareRun(isQuiet: options.quiet)
        let sides =
            try build.map { try ComparedSides(base: base, head: head, build: $0, options, run) }
            ?? ComparedSides(base: base, head: head, options, run)
        let plan = try sides.plan(options, isCountedOnly: countOnly)
        return try run.start(plan, sides.binaries, options)
    }

    private static func isRun(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(path)/\(Journal.fileName)")
    }

    private func goOn(_ directory: String) throws -> Outcome {
        let record = try resuming(try ComparisonRecord.load(directory))
        let engine = try resuming(try record.replayed())
        for side in [record.plan.base, record.plan.head] where Fingerprint.of(side.executable) != side.fingerprint {
            throw ValidationError("--resume: \(side.executable) was removed or replaced: begin a new comparison")
        }
        return try CompareRun(isQuiet: options.quiet).goOn(directory, record, engine)
    }
}
