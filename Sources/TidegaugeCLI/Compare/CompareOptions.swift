// Options of the comparing commands.
import ArgumentParser
import Foundation
import TidegaugeCompare
import TidegaugeReport
import TidegaugeSpec

/// Options that `compare`, `calibrate` and `history` share.
struct CompareOptions: ParsableArguments {
    @Option(
        help: """
            Pattern that names of scenarios must match (* and ? are wildcards); repeatable (default: all scenarios \
            whose gate measures a store).
            """, completion: Completions.scenarioNames)
    var scenario: [String] = []

    @Option(
        help: "Folder of scenario files. The default is that of the head, if it is a commit.", completion: .directory)
    var scenarios = "Scenarios"

    @Option(
        help: "Profile of the trials: smoke, ci or full. Many short trials decide more than a few long ones."
    ) var profile: Profile = .smoke

    @Option(
        help: "Driver to compare on; repeatable (default: all but noop and peers).",
        completion: Completions.drivers)
    var driver: [String] = []

    @Option(
        help: ArgumentHelp(
            "Replaces a value of every scenario, such as dataset.items=1000; repeatable.", valueName: "key=value"),
        completion: Completions.settings)
    var set: [String] = []

    @Option(help: "Number of pairs in the first stage. 8 give a quick look, 40 decide more.")
    var pairs = 20

    @Option(
        help: "Time for pairs, such as 5m. It is spent on the gates where it decides most. Counting takes extra time.")
    var budget: String?

    @Flag(inversion: .prefixedNo, help: "Count instructions first, if this machine can.")
    var count = true

    @Option(help: "Random seed of orders and data (default: random).")
    var seed: UInt64?

    @Option(help: "Folder that reports are written to.", completion: .directory)
    var out = "Reports"

    @Option(help: "Name of the executable that is built from a commit.")
    var product = "tidegauge"

    @Option(help: .hidden)
    var configuration = "release"

    @Option(help: .hidden)
    var injectBase: String?

    @Option(help: .hidden)
    var injectHead: String?

    /// Keeps noisy pairs, for tests on a busy machine.
    @Flag(help: .hidden)
    var keepNoisy = false

    @Option(help: .hidden)
    var resamples = 10_000

    @Flag(help: "No progress on standard error.")
    var quiet = false

    /// - Parameter areEngines: whether the drivers are engines that each commit has.
    func check(areEngines: Bool = false) throws {
        if areEngines {
            if driver.isEmpty { throw ValidationError("--build needs --driver, the command that starts the engine") }
            for name in driver where !Engines.isCommand(name) {
                throw ValidationError(
                    "--driver '\(name)': with --build it is a command, such as './engine' or 'node engine.mjs', or a file "
                        + "'./engine.yaml'")
            }
        } else {
            try Drivers.check(driver)
        }
        _ = try RunPlan.overrides(set)
        _ = try budgetSeconds
        _ = try shims
        guard 1...ComparisonPlan.mostPairs ~= pairs else {
            throw ValidationError("--pairs takes 1 to \(ComparisonPlan.mostPairs), and not \(pairs)")
        }
        guard 0...ComparisonPlan.mostResamples ~= resamples else {
            throw ValidationError("--resamples takes \(ComparisonPlan.mostResamples) at most, and not \(resamples)")
        }
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

    /// Injected artificial costs, for tests that a slowdown is detected.
    var shims: (base: Shim?, head: Shim?) {
        get throws {
            func shim(_ text: String?) throws -> Shim? {
                guard let text else { return nil }
                guard let shim = Shim(text) else {
                    throw ValidationError(
                        "'\(text)' is no artificial cost such as spin=5%")
                }
                return shim
            }
            return (try shim(injectBase), try shim(injectHead))
        }
    }

    /// Checks the report folder before anything is built or run.
    func prepareOut() throws { try refusingFolder { try ReportFolder.prepare(out) } }

    func isWanted(_ name: String) -> Bool { scenario.isEmpty || scenario.contains { fnmatch($0, name, 0) == 0 } }
}
