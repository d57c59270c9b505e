// The command `damage`. Users call `run`, which starts a process with `ask` for each copy.
import ArgumentParser
import Foundation
import StillingWellTortureSupport

public struct Damage: ParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "damage",
        abstract: "Damages copies of store files and checks how a process that opens one behaves.",
        subcommands: [RunCommand.self, AskCommand.self], defaultSubcommand: RunCommand.self)

    public init() {}
}

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "One run. Exits with 1 if a copy crashed or hung its process, or more than 1 in 1,000 was unnoticed.")

    @Option(help: "How many damaged copies.")
    var copies = 1_000

    @OptionGroup var seed: SeedOption

    @Option(help: "Number of the first copy, to repeat a certain one.")
    var first = 0

    @Option(help: "Folder that receives copies with a bad outcome, and those that only `verify` noticed.")
    var keep: String?

    func validate() throws {
        guard copies > 0, first >= 0 else {
            throw ValidationError(
                "--copies \(copies) --first \(first) is out of range: give such as --copies 1000 --first 0")
        }
    }

    func run() throws {
        let seed = seed.value
        print("seed \(seed): \(copies) copies")
        let tally = try DamageRun(seed: seed, keep: keep).run(first..<first + copies)
        print(tally.text)
        if !tally.isClean { throw ExitCode(1) }
    }
}

struct AskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask", abstract: "Opens one store, asks it everything, writes to it and asks again.",
        shouldDisplay: false)

    @Argument(help: "The folder of the store.")
    var path: String

    @Option(help: "What kind of store it is.")
    var kind: StoreKind

    func run() throws {
        Child.limitItself()
        Questions(path, kind).ask()
    }
}

extension StoreKind: ExpressibleByArgument {}
