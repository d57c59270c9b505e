// The plan of a run, made from its options and the files that they name, so that a resumed run has the same plan.
import ArgumentParser
import Foundation
import TidegaugeMeasure
import TidegaugeReport
import TidegaugeRun
import TidegaugeScenario
import TidegaugeSpec
import TidegaugeTrial

struct RunPlan {
    /// Maximum number of commits and of callbacks of a trial in a trace.
    static let traceEvents = 500
    private static let mostReasons = 5

    let header: RunHeader
    let jobs: [Runner.Job]
    /// Swept keys that options replace, and limits that will have too few samples.
    let warnings: [ScenarioProblem]

    /// Plans every trial of every requested scenario, or exits with the problems.
    /// - Parameter header: request. What follows from it, such as `binary` and `scenarios`, is filled in.
    init(_ header: RunHeader) throws {
        let overrides = try Self.overrides(header.overrides)
        let asked = try Engines.names(header.drivers)
        // A resumed run uses the hosts that it began with.
        let hosts = try header.hosts ?? header.hostsFile.map { path in try refusing(try HostsFile.read(path: path)) }
        let trace = try header.traceFile.map { (name: $0, bytes: try Self.contents($0)) }
        let loaded = ScenarioPaths.withoutServers(
            try ScenarioPaths.load(header.paths, trace: trace), asked: header.paths,
            isReported: header.filter == nil)
        let wanted = loaded.filter { scenario in header.filter.map { fnmatch($0, scenario.name, 0) == 0 } ?? true }
        if wanted.isEmpty {
            let filter = header.filter ?? ""
            throw ValidationError(
                "no scenario matches --filter '\(filter)'" + Nearest.several(to: filter, among: loaded.map(\.name)))
        }
        var warnings: [ScenarioProblem] = []
        jobs = try wanted.map { scenario in
            let drivers = Self.drivers(of: scenario, asked: asked)
            var overrides = overrides
            if header.traceFile != nil { try Self.cover(scenario, header.profile, &overrides) }
            warnings += scenario.replacedSweeps(in: header.profile, overrides: overrides)
            if header.counter == nil {
                warnings += scenario.limitsWithoutSamples(in: header.profile, overrides: overrides)
            }
            var trials = try refusing(
                try scenario.trials(profile: header.profile, drivers: drivers, seed: header.seed, overrides: overrides))
            // A driver on which limits are not judged needs only one repetition.
            let unjudged = Self.unjudged(of: scenario, asked: asked)
            trials.removeAll { unjudged.contains($0.driver) && $0.trial > 0 }
            if header.trace {
                for index in trials.indices { trials[index].traceEvents = Self.traceEvents }
            }
            if let counter = header.counter {
                // A repetition would give the same counts.
                trials = trials.filter { $0.trial == 0 }.map {
                    $0.counted(by: counter.rawValue, commits: header.countedCommits)
                }
            }
            return Runner.Job(
                scenario: scenario.name, limits: Self.judges(header.profile) ? scenario.limits : [], trials: trials,
                reference: scenario.drivers.first,
                searchSteps: header.counter != nil
                    ? 0
                    : try refusing(try scenario.searchSteps(profile: header.profile, overrides: overrides)),
                unjudged: unjudged,
                leftOut: header.drivers.isEmpty ? Drivers.leftOut(scenario) : [],
                repeatsVoid: Self.judges(header.profile))
        }
        self.warnings = warnings
        if let objection = Self.objection(jobs, wanted, asked: asked) { throw ValidationError(objection) }
        if let hosts { try Self.check(hosts, header.hostsFile ?? "", jobs) }
        var header = header
        header.hosts = hosts
        header.engines = Engines.arguments
        header.engineRemarks = Engines.remarks
        header.binary = Fingerprint.ofThisBinary()
        header.scenarios = wanted.map { ScenarioRecord($0) }
        let unjudged = Set(jobs.filter { !$0.limits.isEmpty }.flatMap(\.unjudged))
        header.unjudged = unjudged.isEmpty ? nil : unjudged.sorted()
        header.emptyDrivers = Drivers.all.filter(\.isEmpty).map(\.name)
        self.header = header
    }

    /// Returns whether limits are judged. Trials of the smoke profile are too short for that. They show that
    /// everything runs; the oracle checks results in any profile.
    static func judges(_ profile: Profile) -> Bool { profile != .smoke }

    /// Returns why none of the requested drivers can run anything. Nil if one can, or if none was requested. A driver
    /// that cannot run some scenarios is reported as skipped.
    private static func objection(_ jobs: [Runner.Job], _ scenarios: [Scenario], asked: [String]) -> String? {
        guard !asked.isEmpty else { return nil }
        var reasons: [String] = []
        for (job, scenario) in zip(jobs, scenarios) {
            for driver in Drivers.all where asked.contains(driver.name) {
                let trials = job.trials.filter { $0.driver == driver.name }
                let obstacles = trials.map { CapabilityCheck.obstacle($0, driver.capabilities) }
                if obstacles.contains(nil) { return nil }
                let reason =
                    obstacles.first.flatMap { $0 } ?? "its drivers are \(scenario.drivers.joined(separator: ", "))"
                reasons.append("  \(scenario.name) on \(driver.name): \(reason)")
            }
        }
        let shown = reasons.prefix(mostReasons) + (reasons.count > mostReasons ? ["  …"] : [])
        return """
            --driver \(asked.joined(separator: ", ")): nothing would run:
            \(shown.joined(separator: "\n"))
            Choose other scenarios or another driver (tidegauge list drivers says what each can do), or leave --driver out.
            """
    }

    /// Checks that scenarios use hosts and that there are enough of them.
    private static func check(_ hosts: [HostEntry], _ file: String, _ jobs: [Runner.Job]) throws {
        let asked = jobs.flatMap { job in job.trials.compactMap { ($0.hosts, job.scenario) } }
        guard let (most, scenario) = asked.max(by: { $0.0 ?? 0 < $1.0 ?? 0 }), let most else {
            throw ValidationError("--hosts: no scenario uses hosts ('writers.hosts'): leave it out")
        }
        guard most <= hosts.count else {
            throw ValidationError(
                "--hosts: \(scenario) needs \(most) hosts, and \(file) has \(hosts.count) without a server"
            )
        }
    }

    /// Returns the drivers for a scenario: those that the command line names, or all. The no-op driver and peers
    /// (`tidegaugeMain`) are then left out unless the scenario names them.
    static func drivers(of scenario: Scenario, asked: [String]) -> [String] {
        if !asked.isEmpty { return asked }
        return Drivers.names.filter { !Drivers.unjudged.contains($0) || scenario.drivers.contains($0) }
    }

    /// Returns the peers, and the no-op driver, that the command line names and the scenario does not: its limits are
    /// for another store.
    private static func unjudged(of scenario: Scenario, asked: [String]) -> Set<String> {
        Set(asked).intersection(Drivers.unjudged).subtracting(scenario.drivers)
    }

    /// Returns the bytes of a trace.
    private static func contents(_ path: String) throws -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw ValidationError(
                "--trace-file: '\(path)' cannot be read; name a file that WorkloadRecorder has written")
        }
    }

    /// Sets the duration so that the measured part ends after the longest trace, unless the duration is given.
    private static func cover(_ scenario: Scenario, _ profile: Profile, _ overrides: inout [String: String]) throws {
        guard let traceNs = scenario.traceNs else {
            throw ValidationError(
                "--trace-file: '\(scenario.name)' uses no trace; name a scenario with 'writers.arrivals: trace', or "
                    + "none")
        }
        guard overrides["duration"] == nil else { return }
        let warmUpNs =
            try refusing(try scenario.points(profile: profile, overrides: overrides)).first?.spec.warmUpNs ?? 0
        // Rounded up by 1 ms, so that a commit at the last moment is due before the end.
        overrides["duration"] = "\(max(1, (traceNs - warmUpNs) / 1_000_000 + 1))ms"
    }

    static func overrides(_ options: [String]) throws -> [String: String] {
        var overrides: [String: String] = [:]
        for option in options {
            guard let equals = option.firstIndex(of: "="), equals != option.startIndex else {
                throw ValidationError("--set takes KEY=VALUE, such as dataset.items=1000, and not '\(option)'")
            }
            overrides[String(option[..<equals])] = String(option[option.index(after: equals)...])
        }
        return overrides
    }
}
