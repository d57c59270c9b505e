// `tidegauge run`: parses, plans, runs, judges and reports. Scenarios, traces and options are checked before the first
// trial.
import ArgumentParser
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeReport
import TidegaugeRun
import TidegaugeScenario
import TidegaugeSpec

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run scenarios and report what was measured.",
        discussion: """
            Exit codes: 0 all is well (limits that the machine could not judge are named, as are figures worse than a \
            baseline's), 1 a limit is broken, 3 a trial hung, 4 the store broke a promise, 64 and 65 the command or a scenario \
            is wrong, 69 a driver cannot run here, 70 a trial or the harness failed, 130 interrupted; the worst wins. \
            (2 is used by `compare` and `calibrate`.)
            """)

    @OptionGroup var scenarios: ScenarioPaths

    @Option(help: "Profile: smoke, ci or full. It sets durations and repetitions.")
    var profile: Profile = .ci

    @Option(
        help: """
            Driver to run on; repeatable. The summary is about the first (default: all but noop and peers). A command such as \
            'python3 engine.py', or a file engine.yaml, starts an engine in a process of its own (Docs/engines.md).
            """,
        completion: Completions.drivers)
    var driver: [String] = []

    @Option(help: "Folder that reports are written to.", completion: .directory)
    var out = "Reports"

    @Option(help: "Random seed (default: 1).")
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "Replaces a value of every scenario, such as dataset.items=1000; repeatable.", valueName: "key=value"),
        completion: Completions.settings)
    var set: [String] = []

    @Option(
        help: "Pattern that names of scenarios must match (* and ? are wildcards).",
        completion: Completions.scenarioNames)
    var filter: String?

    @Flag(help: "Write trace.json too: the first commits and callbacks of each trial, one by one.")
    var trace = false

    @Option(
        help: ArgumentHelp(
            """
            Recording that replaces the traces of the scenarios (format: Docs/scenarios.md). It is followed to its end \
            unless 'duration' is set. Without PATH, the scenario recorded-day follows it.
            """, valueName: "file"), completion: .file()) var traceFile: String?

    @Option(
        help: ArgumentHelp(
            "File that names hosts and how each is reached, for scenarios with 'writers.hosts' or 'observers.hosts' (default: processes of this machine).",
            valueName: "file"), completion: .file()) var hosts: String?

    @Flag(
        help: """
            Count instructions, allocations and system calls per commit with the processor's counters or valgrind. Nothing \
            is timed, so the figures are the same on a busy machine.
            """) var count = false

    @Option(
        help: ArgumentHelp(
            "Commits to count per trial (default: up to 200). Lower it for slow engines. Requires --count.",
            valueName: "number")) var commits: Int?

    @Option(
        help: ArgumentHelp(
            "Baseline to compare with. What became worse is named; the exit code does not change.", valueName: "name"))
    var baseline: String?

    @Option(
        help: ArgumentHelp(
            "Name under which the figures of this run are saved in baselines/ beside the reports, if it passes.",
            valueName: "name"))
    var saveBaseline: String?

    @Flag(help: "Start at once instead of waiting up to one minute for a quiet machine.")
    var noWait = false

    @Flag(help: "No progress on standard error.")
    var quiet = false

    @Option(
        help: ArgumentHelp(
            "Folder of an interrupted run to continue. Finished trials are kept, and the options of that run apply.",
            valueName: "dir"),
        completion: .directory) var resume: String?

    func validate() throws {
        try Drivers.check(driver.filter { !Engines.isCommand($0) })
        _ = try RunPlan.overrides(set)
        if count { _ = try counter() }
        if let commits {
            guard count else { throw ValidationError("--commits requires --count") }
            guard commits > 0 else { throw ValidationError("--commits: \(commits) is not a number of commits, from 1") }
        }
        for name in [baseline, saveBaseline] {
            if let objection = name.flatMap(RunBaseline.objection) { throw ValidationError(objection) }
        }
        if resume != nil, header != RunHeader(paths: ScenarioPaths.standard) || out != "Reports" {
            throw ValidationError(
                "--resume uses the options of that run: give only --quiet and --no-wait with it")
        }
    }

    func run() throws {
        let outcome = try resume.map { try goOn($0) } ?? start()
        if outcome != .pass { throw ExitCode(outcome) }
    }

    private func start() throws -> Outcome {
        let plan = try RunPlan(header)
        for warning in plan.warnings { printError("\(warning)") }
        for engine in Engines.all {
            if let unchecked = engine.unchecked { printError("\(engine.name): \(unchecked)") }
        }
        try refusingFolder { try ReportFolder.prepare(out, links: true) }
        let environment = EnvironmentReport.capture(storeDirectories: [out, PrivateFolder.memoryFileSystem])
        return try measure(plan, root: out, runID: runID(environment.commit), environment, nil)
    }

    private func goOn(_ directory: String) throws -> Outcome {
        let resumption = try resuming(try Resumption(directory))
        let plan: RunPlan
        do { plan = try RunPlan(resumption.record.header) } catch {
            printError(
                "--resume: the run's paths (\(resumption.record.header.paths.joined(separator: ", "))) are relative "
                    + "to the folder that it began in: continue from there")
            throw error
        }
        let differences = resumption.differences(
            binary: plan.header.binary, scenarios: plan.header.scenarios, trials: plan.jobs.flatMap(\.trials))
        if !differences.isEmpty {
            throw ValidationError(
                "--resume: \(directory) cannot be gone on with, or not from this folder (go on from the one that the run began "
                    + "in):\n  " + differences.joined(separator: "\n  "))
        }
        // Resolves `latest`, which is a link.
        let folder = URL(fileURLWithPath: directory).resolvingSymlinksInPath()
        try resumption.clean(folder.path)
        let root = directory.contains("/") ? (directory as NSString).deletingLastPathComponent : "."
        return try measure(
            plan, root: root.isEmpty ? "/" : root, runID: folder.lastPathComponent, resumption.record.environment,
            resumption)
    }

    private func counter() throws -> InstructionCounter {
        do { return try .ofThisMachine() } catch { throw ValidationError("--count: \(error)") }
    }

    private var header: RunHeader {
        let isRecorded = traceFile != nil && scenarios.paths == ScenarioPaths.standard
        var header = RunHeader(paths: isRecorded ? ["recorded-day"] : scenarios.paths)
        header.profile = profile
        header.drivers = driver
        header.seed = seed
        header.overrides = set
        header.filter = filter
        header.trace = trace
        header.traceFile = traceFile
        header.hostsFile = hosts
        header.counter = count ? try? counter() : nil
        header.countedCommits = commits
        (header.baseline, header.savedBaseline) = (baseline, saveBaseline)
        return header
    }

    /// Time and commit. A random number replaces the commit if it is unknown or if such a run exists.
    private func runID(_ commit: String) -> String {
        let seconds = Int(Date().timeIntervalSince1970)
        let short = UInt32(commit.prefix(8), radix: 16)
        let id = RunReport.makeRunID(secondsSince1970: seconds, entropy: short ?? .random(in: 0 ... .max))
        guard FileManager.default.fileExists(atPath: "\(out)/\(id)") else { return id }
        return RunReport.makeRunID(secondsSince1970: seconds, entropy: .random(in: 0 ... .max))
    }

    /// p99 of a sleeping thread's wake-up delay before anything runs.
    private static func hiccupP99AtRestNs() -> Double? {
        let probe = HiccupProbe()
        probe.start()
        Pacing.sleep(untilNs: MonotonicClock.nowNs() + 300_000_000)
        return probe.stop().percentile(.p99).map { Double($0.value) }
    }

    /// Waits up to 60 s for other programs, such as a build, to end if timed figures are judged.
    private func waitForQuiet(_ header: RunHeader) -> StartLoad {
        let isJudged = RunPlan.judges(header.profile) && header.counter == nil
        let load = QuietWait().run(isPatient: isJudged && !noWait) { busyShare in
            if quiet { return }
            printError(
                "waiting at most a minute for other programs to end (--no-wait: start at once): they take "
                    + "\(Humanised.share(busyShare)) of the processors' time")
        }
        if load.waitedNs > 0, load.isBusy, let busyShare = load.busyShare {
            printError(
                "the machine is busy: other programs still take \(Humanised.share(busyShare)) of the processors' time; "
                    + "limits on times may stay unknown, those on counts will not")
        }
        return load
    }

    private func measure(
        _ plan: RunPlan, root: String, runID: String, _ environment: EnvironmentReport, _ resumption: Resumption?
    ) throws -> Outcome {
        warnOfFileLimit()
        var baselines = try RunBaselines(plan.header, in: root)
        var environment = environment
        environment.begin(waitForQuiet(plan.header))
        var formats: [any ReportFormat] = [
            MetricsCSV(), SeriesCSV(), HistogramLogs(), EnvironmentJSON(), HangReports(),
            ConsoleSummary(
                earlier: resumption?.keptRows ?? [],
                gates: Dictionary(
                    plan.header.scenarios.map { ($0.name, $0.gate) }, uniquingKeysWith: { first, _ in first }),
                columns: TerminalOutput.columns
            ) {
                print(TerminalOutput.coloured($0), terminator: "")
            },
        ]
        if plan.header.trace { formats.append(ChromeTrace()) }
        // The journal is the last of the growing formats, because its events refer to what the others have written.
        let pages = FinalReports(cell: Setting.cell)
        formats += [Journal(), pages]
        let report = try RunReport(
            root: root, runID: runID, header: plan.header, environment: environment, formats: formats)
        let trials = report.directory + "/trials"
        let interruption = Interruption()
        let signals = StopSignals(interruption)
        defer { signals.stop() }
        let console = RunConsole(report, Progress(isQuiet: quiet), resumption)
        let runner = Runner(
            drivers: Drivers.all,
            executor: ChildProcess(
                directory: trials, interruption: interruption, hosts: plan.header.hosts ?? [],
                engines: try Engines.json()),
            interruption: interruption, delegate: console,
            noiseLimits: NoiseLimits(
                calibratedHiccupNs: plan.jobs.contains(where: \.repeatsVoid) ? Self.hiccupP99AtRestNs() : nil),
            counter: try? InstructionCounter.ofThisMachine())
        let outcome = try runner.run(plan.jobs)
        try removeIfEmpty(trials)
        try report.add(.ended(EndRecord(exitCode: outcome.rawValue)))
        var complete = report.run.environment
        complete.finish()
        if let comparison = try baselines.compare(report.directory, complete) {
            try report.add(.compared(comparison))
        }
        try report.end(environment: complete)
        console.printVerdict(try baselines.end(outcome), answers: pages.lastLines, unjudged: plan.header.unjudgedLines)
        if !RunPlan.judges(plan.header.profile) {
            print(TerminalOutput.wrapped("limits are not judged in the smoke profile: its trials are short"))
        }
        print("Report: \(report.directory)/\(FinalReports.htmlName)")
        if outcome == .interrupted { printError("continue with: tidegauge run --resume \(report.directory)") }
        return outcome
    }
}

extension Profile: ExpressibleByArgument {}

/// Removes the folder if it is empty.
func removeIfEmpty(_ folder: String) throws {
    let left = try? FileManager.default.contentsOfDirectory(atPath: folder)
    if left?.isEmpty ?? false { try FileManager.default.removeItem(atPath: folder) }
}
