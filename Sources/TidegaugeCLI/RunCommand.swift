// `tidegauge run`: parse, plan, run, judge, report. Everything is read and checked before the first trial starts.
import ArgumentParser
import Foundation
import Harness
import Measure
import Report
import Scenario

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run scenarios and report what was measured.")

    @OptionGroup var scenarios: ScenarioPaths

    @Option(help: "How much to run: smoke, ci or full.")
    var profile: Profile = .ci

    @Option(help: "A driver to run on; may be given several times. Default: all but null and peers.")
    var driver: [String] = []

    @Option(help: "Where reports go.")
    var out = "Reports"

    @Option(help: "Instead of the seeds in the scenario files.")
    var seed: UInt64?

    @Option(help: ArgumentHelp("Overrides a scenario's value, as dataset.items=1000.", valueName: "key=value"))
    var set: [String] = []

    @Option(help: "Only scenarios whose name matches this pattern (* and ?).")
    var filter: String?

    @Flag(help: "No progress on standard error.")
    var quiet = false

    func validate() throws {
        for name in driver where !Tidegauge.driverNames.contains(name) {
            throw ValidationError("unknown driver '\(name)' \(Nearest.hint(for: name, among: Tidegauge.driverNames))")
        }
        _ = try overrides()
    }

    func run() throws {
        let jobs = try plan()
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        let environment = EnvironmentReport.capture(storeDirectories: [out, "/dev/shm"])
        let report = try RunReport(
            root: out, runID: runID(environment.commit), environment: environment,
            formats: [MetricsCSV(), EnvironmentJSON(), ConsoleSummary { print($0, terminator: "") }])
        let outcome = try measure(jobs, report)
        print("Report: \(report.directory)/\(MetricsCSV.fileName)")
        if outcome != .pass { throw ExitCode(outcome) }
    }

    /// Time and commit; something random in the commit's place where it is not known, or where that run is there.
    private func runID(_ commit: String) -> String {
        let seconds = Int(Date().timeIntervalSince1970)
        let short = UInt32(commit.prefix(8), radix: 16)
        let id = RunReport.makeRunID(secondsSince1970: seconds, entropy: short ?? .random(in: 0 ... .max))
        guard FileManager.default.fileExists(atPath: "\(out)/\(id)") else { return id }
        return RunReport.makeRunID(secondsSince1970: seconds, entropy: .random(in: 0 ... .max))
    }

    private func measure(_ jobs: [Runner.Job], _ report: RunReport) throws -> Outcome {
        let trials = report.directory + "/trials"
        let interruption = Interruption()
        let signals = StopSignals(interruption)
        defer { signals.stop() }
        let console = RunConsole(report, Progress(isQuiet: quiet))
        let runner = Runner(
            drivers: Tidegauge.drivers, executor: ChildProcess(directory: trials, interruption: interruption),
            interruption: interruption, delegate: console)
        let outcome = try runner.run(jobs)
        // Only trials that went wrong have left something there.
        if (try? FileManager.default.contentsOfDirectory(atPath: trials))?.isEmpty ?? false {
            try FileManager.default.removeItem(atPath: trials)
        }
        var environment = report.run.environment
        environment.finish()
        try report.end(environment: environment)
        console.printJudgements()
        return outcome
    }

    /// Every trial of every scenario asked for, or the exit that says what is wrong.
    private func plan() throws -> [Runner.Job] {
        let overrides = try overrides()
        let wanted = try scenarios.load().filter { scenario in
            filter.map { fnmatch($0, scenario.name, 0) == 0 } ?? true
        }
        if wanted.isEmpty { throw ValidationError("no scenario matches --filter '\(filter ?? "")'") }
        return try wanted.map { scenario in
            let trials = try refusing { () throws(ScenarioErrors) in
                try scenario.trials(
                    profile: profile, drivers: drivers(of: scenario), seed: seed, overrides: overrides)
            }
            return Runner.Job(
                scenario: scenario.name, limits: scenario.limits, trials: trials, reference: scenario.drivers.first)
        }
    }

    /// Null runs as a companion; it and the peers by themselves only where a scenario names them or the command line does.
    private func drivers(of scenario: Scenario) -> [String] {
        if !driver.isEmpty { return driver }
        return Tidegauge.driverNames.filter { !Tidegauge.askedFor.contains($0) || scenario.drivers.contains($0) }
    }

    private func overrides() throws -> [String: String] {
        var overrides: [String: String] = [:]
        for option in set {
            guard let equals = option.firstIndex(of: "="), equals != option.startIndex else {
                throw ValidationError("--set takes KEY=VALUE, such as dataset.items=1000, and not '\(option)'")
            }
            overrides[String(option[..<equals])] = String(option[option.index(after: equals)...])
        }
        return overrides
    }
}

extension Profile: ExpressibleByArgument {}
