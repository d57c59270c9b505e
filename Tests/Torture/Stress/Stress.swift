// The command `stress`. Users call `run` and `plan`. A run starts processes with `foreign-writer`.
import ArgumentParser
import Foundation
import StillingWell
import StillingWellTortureSupport

public struct Stress: ParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "stress",
        abstract: "Loads a store from many threads and processes and checks at every callback what it promises.",
        subcommands: [RunCommand.self, PlanCommand.self, ForeignWriterCommand.self],
        defaultSubcommand: RunCommand.self)

    public init() {}
}

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "One run. Exits with 1 on a violation.")
    static let secondsAllowed = 1.0...86_400

    @Option(help: "Duration of the load in seconds.")
    var seconds = 60.0

    @Option(help: "Go on, for a minute at most, until so many callbacks were checked: a busy machine makes fewer.")
    var callbacks = 0

    @OptionGroup var seed: SeedOption

    @Option(help: "Where the store lies while the run lasts: relaxed (on a disk) or memory. Default: the seed decides.")
    var durability: Durability?

    @Option(help: "An empty folder for the store, kept afterwards. Default: a temporary one.")
    var folder: String?

    func validate() throws {
        guard Self.secondsAllowed.contains(seconds) else {
            throw ValidationError("--seconds \(seconds) is out of range: give 1 to 86400, such as --seconds 60")
        }
        if durability == .full {
            throw ValidationError("--durability full would measure the disk: give relaxed or memory")
        }
        if let folder, let found = try? FileManager.default.contentsOfDirectory(atPath: folder), !found.isEmpty {
            throw ValidationError("--folder \(folder) is not empty: name a folder that is, or one to be made")
        }
    }

    func run() throws {
        let plan = Plan(seed: seed.value, durability: durability)
        let run = try Run(plan, seconds: seconds, callbacks: callbacks, folder: folder)
        let outcome = run.runOnMainThread()
        print(outcome.text)
        if !outcome.isClean { throw ExitCode(1) }
    }
}
