// `tidegauge explore`: searches the schedules of an interleaving test for one that hangs or violates a rule, shortens
// it, and prints it for replay.
import ArgumentParser
import Foundation
import StillingWellSync
import TidegaugeDriver
import TidegaugeHangs
import TidegaugeMeasure
import TidegaugeRun
import TidegaugeTrialRunner

struct ExploreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Search the interleavings of an interleaving test for one that hangs or breaks a rule.")

    @Argument(help: "Scenario with 'threads': a file or a name.", completion: Completions.scenarios)
    var scenario: String

    @Option(help: "Driver (default: the first that the scenario names).", completion: Completions.drivers)
    var driver: String?

    @Option(
        help:
            "Number of schedules to try: the default one, then random ones and PCT schedules of depth 2 and 3 in turn."
    )
    var schedules = 1_000

    @Option(help: "Random seed.")
    var seed: UInt64 = 1

    @Option(help: "Printed schedule to replay instead of searching.")
    var schedule: String?

    @Option(help: "Number of replays.")
    var times = 1

    func validate() throws {
        try Drivers.check(driver.map { [$0] } ?? [])
        if schedules < 1 || times < 1 { throw ValidationError("--schedules and --times must be 1 or more") }
        if let schedule, Schedule(schedule) == nil {
            throw ValidationError("--schedule takes what 'explore' printed, such as 12:2,40:0, and not '\(schedule)'")
        }
    }

    func run() throws {
        // Sets and dictionaries need the same order in every process; otherwise a schedule cannot be replayed.
        if ProcessInfo.processInfo.environment["SWIFT_DETERMINISTIC_HASHING"] == nil {
            setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { strdup($0) } + [nil]
            execv("/proc/self/exe", &arguments)
        }
        let folder = try PrivateFolder(in: PrivateFolder.memoryPlace)
        defer { folder.remove() }
        var explorer = Explorer(try program(in: folder.path))
        let outcome = schedule.map { replay(Schedule($0)!, &explorer) } ?? search(&explorer)
        folder.remove()
        // Hung threads never end, so an ordinary exit could block.
        fflush(nil)
        _exit(outcome.rawValue)
    }

    private func program(in folder: String) throws -> ExploredProgram {
        let loaded = try ScenarioPaths.load([scenario])[0]
        guard loaded.interleaving != nil else {
            throw ValidationError(
                "\(scenario) has no 'threads', so there are no interleavings to explore: name an interleaving test, "
                    + "such as those in Scenarios/deadlock")
        }
        let names = driver.map { [$0] } ?? loaded.drivers.filter(Drivers.names.contains)
        let trials = try refusing(try loaded.trials(profile: .smoke, drivers: names))
        guard let spec = trials.first, let subject = Drivers.all.first(where: { $0.name == spec.driver }) else {
            throw ValidationError("\(scenario) does not run on \(driver ?? "any driver of this program")")
        }
        do {
            return try ExploredInterleavings(spec, on: subject, folder: folder).program
        } catch {
            throw ValidationError("\(scenario): \(error)")
        }
    }

    private func search(_ explorer: inout Explorer) -> Outcome {
        let startNs = MonotonicClock.nowNs()
        var printedNs = startNs
        let found = explorer.search(schedules: schedules, seed: seed) { tried in
            guard MonotonicClock.nowNs() - printedNs > 10_000_000_000 else { return }
            printedNs = MonotonicClock.nowNs()
            printError("\(tried) of \(schedules) schedules")
        }
        let seconds = Double(MonotonicClock.nowNs() - startNs) / 1e9
        let rate = Int(Double(explorer.tried) / max(seconds, 0.001))
        guard let found else {
            print("\(explorer.tried) schedules of up to \(explorer.longestRun) steps, \(rate)/s: nothing went wrong")
            return .pass
        }
        print("went wrong at schedule \(found.tried), by \(found.strategy): \(found.reason)")
        fflush(nil)
        let shrunk = explorer.shrink(found)
        print("schedule: \(shrunk.schedule)")
        print(
            "(\(found.schedule.switches.count) switches of threads, of which \(shrunk.schedule.switches.count) matter)")
        if shrunk.reason != found.reason { print("it now says: \(shrunk.reason)") }
        print(
            "replay: tidegauge explore \(scenario)\(driver.map { " --driver \($0)" } ?? "") --schedule \(shrunk.schedule)"
        )
        return shrunk.isHang ? .hang : .oracleViolation
    }

    private func replay(_ schedule: Schedule, _ explorer: inout Explorer) -> Outcome {
        var outcome = Outcome.pass
        var reasons: [String: Int] = [:]
        for _ in 0..<times {
            let found = explorer.run(ReplayedSchedule(schedule), "replay")
            reasons[found?.reason ?? "nothing went wrong", default: 0] += 1
            if let found { outcome = outcome.worse(found.isHang ? .hang : .oracleViolation) }
        }
        for (reason, count) in reasons.sorted(by: { $0.value > $1.value }) { print("\(count) of \(times): \(reason)") }
        return outcome
    }
}
