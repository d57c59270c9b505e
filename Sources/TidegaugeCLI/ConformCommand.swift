// `tidegauge conform`: tests what an engine promises to observers and writers, and prints a verdict per promise.
import ArgumentParser
import CStillingWellPlatform
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeRun
import TidegaugeTrialRunner

struct ConformCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conform", abstract: "Test whether an engine keeps its promises to observers and writers.",
        discussion: """
            Random histories of at most ten commits are run on each driver and compared with a model. A history that shows a broken \
            promise is shortened by at most \(Conformer.mostShorteningRuns) further runs. While it is shortened, what does not come is \
            waited for a tenth of the limit, and the result is checked with the whole limit.

            Exit codes: 0 no promise is broken, 1 a promise is broken, 64 the command is wrong, 69 a driver cannot run here.
            """)

    @Option(
        help: """
            Driver to test; repeatable. A command such as 'python3 engine.py', or a file engine.yaml, starts an engine in a process of \
            its own (Docs/engines.md).
            """,
        completion: Completions.drivers)
    var driver: [String]

    @Option(help: "Seed of the first history.")
    var seed: UInt64 = 1

    @Option(help: "Number of histories, each with the next seed.")
    var histories = 40

    @Option(help: ArgumentHelp("Time limit of a delivery and of a reply.", valueName: "seconds"))
    var limit = 10.0

    @Option(help: .hidden) var commits: Int?

    @Option(help: .hidden) var dieIn: String?

    func validate() throws {
        try Drivers.check(driver.filter { !Engines.isCommand($0) })
        if histories < 1 { throw ValidationError("--histories must be 1 or more") }
        if !(limit >= 0.1 && limit <= 3_600) { throw ValidationError("--limit must be from 0.1 to 3600 seconds") }
    }

    func run() throws {
        // Makes this process the parent of processes that an engine leaves behind, so that it can reap them.
        cp_adopt_orphans()
        var outcome = Outcome.pass
        for (argument, name) in zip(driver, try Engines.names(driver)) {
            guard let subject = Drivers.all.first(where: { $0.name == name }) else { continue }
            if let dieIn { try KilledCommits(seed: seed, on: subject, count: commits).makeAndDie(in: dieIn) }
            print("\(name):")
            outcome = outcome.worse(try test(subject, argument))
        }
        if outcome == .pass { return }
        // Threads of a hung engine may still exist, and an ordinary exit could wait for them.
        fflush(nil)
        _exit(outcome.rawValue)
    }

    private func test(_ subject: any StoreDriver, _ argument: String) throws -> Outcome {
        let seeds = (0..<UInt64(histories)).map { seed &+ $0 }
        let found: [(promise: ConformPromise, verdict: ConformVerdict)]
        do {
            found = try Conformer(subject, limitNs: Int64(limit * 1e9)) { seed, commits, folder in
                try Self.makeAndDie(argument, seed, commits, folder)
            }.verdicts(seeds: seeds)
        } catch let error as DriverUnavailable {
            printError("\(subject.name): \(error)")
            return .unavailable
        }
        var outcome = Outcome.pass
        for (promise, verdict) in found {
            switch verdict {
            case .kept: print("  kept            \(promise.rawValue)")
            case .notApplicable(let reason): print("  not applicable  \(promise.rawValue): \(reason)")
            case .broken(let history, let sentence):
                outcome = .limitBroken
                print(
                    "  broken          \(promise.rawValue) (seed \(history.seed), commits: \(history.commits)):"
                )
                for (number, line) in history.lines.enumerated() { print("    \(number + 1). \(line)") }
                print("    → \(sentence.replacing("\n", with: "\n      "))")
                let quoted = "'\(argument.replacing("'", with: "'\\''"))'"
                print("    repeat: tidegauge conform --driver \(quoted) --seed \(history.seed) --histories 1")
            }
        }
        return outcome
    }

    /// Lets another process make commits and kill itself.
    private static func makeAndDie(_ driver: String, _ seed: UInt64, _ commits: Int, _ folder: String) throws {
        let ended = try Subprocess.run(
            "/proc/self/exe",
            ["conform", "--driver", driver, "--seed", "\(seed)", "--commits", "\(commits)", "--die-in", folder],
            timeoutNs: killedLimitNs)
        guard !ended.hasTimedOut, case .signal(SIGKILL) = ended.exit else {
            throw Failure(
                description: "the process that makes the commits ended otherwise (\(ended.exit)"
                    + "\(ended.hasTimedOut ? ", after \(killedLimitNs / 1_000_000_000) s" : "")): "
                    + String(decoding: ended.errors, as: UTF8.self))
        }
    }

    private static let killedLimitNs: Int64 = 60_000_000_000

    private struct Failure: Error, CustomStringConvertible { let description: String }
}
