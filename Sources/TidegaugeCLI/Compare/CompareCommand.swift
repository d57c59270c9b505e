// `tidegauge compare`: build both commits, give both the same trials, believe what holds twice.
import ArgumentParser
import Comparison
import Foundation
import Harness
import Measure
import Report
import Scenario

struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Tell whether one commit is slower than another, and how sure that is.",
        discussion: """
            BASE and HEAD are commits, which are built; or binaries; or folders of finished runs, which say much less.
            Exit codes: 0 no gate is worse, 1 a gate regressed, 2 a gate is inconclusive, 3 the head hangs, 4 it breaks a \
            promise, 130 interrupted.
            """)

    @Argument(help: "The commit to compare with.")
    var base: String?

    @Argument(help: "The commit that is asked about. Default: the working tree.")
    var head: String?

    @OptionGroup var options: CompareOptions

    @Option(
        help: ArgumentHelp("Go on with an interrupted comparison; its own options hold.", valueName: "dir"),
        completion: .directory)
    var resume: String?

    func validate() throws {
        if (base == nil) == (resume == nil) { throw ValidationError("name BASE, or a comparison to --resume") }
        try options.check()
    }

    func run() throws {
        let outcome = try resume.map { try goOn($0) } ?? start(base!)
        if outcome != .pass { throw ExitCode(outcome) }
    }

    private func start(_ base: String) throws -> Outcome {
        if let head, RunFolders.isRun(base), RunFolders.isRun(head) {
            return try RunFolders(base: base, head: head).compare()
        }
        try options.prepareOut()
        let run = CompareRun(isQuiet: options.quiet)
        let sides = try ComparedSides(base: base, head: head, options, run)
        let plan = try sides.plan(options)
        return try run.start(plan, sides.binaries, options)
    }

    private func goOn(_ directory: String) throws -> Outcome {
        let record: ComparisonRecord
        let engine: ComparisonEngine
        do {
            record = try ComparisonRecord.load(directory)
            engine = try record.replayed()
        } catch {
            throw ValidationError("--resume: \(error)")
        }
        for side in [record.plan.base, record.plan.head] where Fingerprint.of(side.executable) != side.fingerprint {
            throw ValidationError("--resume: \(side.executable) is gone or another binary: begin a new comparison")
        }
        return try CompareRun(isQuiet: options.quiet).goOn(directory, record, engine)
    }
}

/// What `compare`, `calibrate` and `bisect` share.
struct CompareOptions: ParsableArguments {
    @Option(help: "Only scenarios whose name matches this pattern (* and ?); may be given several times.")
    var scenario: [String] = []

    @Option(help: "Where scenario files are, from the root of the repository.")
    var scenarios = "Scenarios"

    @Option(
        help: "Which profile's trials: smoke, whose are short, or ci or full. Many short trials say more than few long."
    )
    var profile: Profile = .smoke

    @Option(help: "A driver to compare on; may be given several times. Default: all but noop and peers.")
    var driver: [String] = []

    @Option(help: ArgumentHelp("Overrides a scenario's value, as dataset.items=1000.", valueName: "key=value"))
    var set: [String] = []

    @Option(help: "Pairs of the first stage: 8 for a glance, 40 at night.")
    var pairs = 20

    @Option(help: "Spend so long on trials, as 5m, where it decides most, instead of the same pairs everywhere.")
    var budget: String?

    @Option(help: "Draws orders and data.")
    var seed: UInt64?

    @Option(help: "Where reports go.")
    var out = "Reports"

    @Option(help: "The executable that is built from a commit.")
    var product = "tidegauge"

    @Option(help: .hidden)
    var configuration = "release"

    @Option(help: .hidden)
    var injectBase: String?

    @Option(help: .hidden)
    var injectHead: String?

    /// On a machine that is busy with something else, for tests of everything but the figures.
    @Flag(help: .hidden)
    var keepNoisy = false

    @Option(help: .hidden)
    var resamples = 10_000

    @Flag(help: "No progress on standard error.")
    var quiet = false

    func check() throws {
        for name in driver where !Tidegauge.driverNames.contains(name) {
            throw ValidationError("unknown driver '\(name)' \(Nearest.hint(for: name, among: Tidegauge.driverNames))")
        }
        _ = try RunPlan.overrides(set)
        _ = try budgetSeconds
        _ = try shims
        if pairs < 1 { throw ValidationError("--pairs takes 1 or more") }
    }

    var budgetSeconds: Double? {
        get throws {
            guard let budget else { return nil }
            let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600]
            guard let unit = budget.last.flatMap({ units[$0] }), let count = Double(budget.dropLast()), count > 0 else {
                throw ValidationError("--budget takes a time such as 90s or 5m, and not '\(budget)'")
            }
            return count * unit
        }
    }

    /// Flaws on purpose: a calibration's, and the proof's that a flaw is seen.
    var shims: (base: Shim?, head: Shim?) {
        get throws {
            func shim(_ text: String?) throws -> Shim? {
                guard let text else { return nil }
                guard let shim = Shim(text) else { throw ValidationError("'\(text)' is no flaw such as spin=5%") }
                return shim
            }
            return (try shim(injectBase), try shim(injectHead))
        }
    }

    /// Before anything is built or run whose report would have nowhere to go.
    func prepareOut() throws { try refusingFolder { try ReportFolder.prepare(out) } }

    func isWanted(_ name: String) -> Bool {
        scenario.isEmpty || scenario.contains { fnmatch($0, name, 0) == 0 }
    }
}
