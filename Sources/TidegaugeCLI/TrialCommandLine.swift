// `tidegauge trial`: the child's side of one trial. Not for people, so not in the help.
import ArgumentParser
import Foundation
import Runs
import TrialRunner

/// Runs a child's side, and ends the process.
private func asChild(_ body: () throws -> Void) throws -> Never {
    // A parent that is gone closes the pipe; the next line that is written to it then ends this process.
    signal(SIGPIPE, SIG_DFL)
    do {
        try body()
    } catch {
        printError("\(error)")
        throw ExitCode(.fault)
    }
    // Threads of a hung trial are still there, and would be waited for by whatever runs at an ordinary exit.
    _exit(Outcome.pass.rawValue)
}

/// `tidegauge trial-helper`: a process that a trial starts beside itself.
struct TrialHelperCommandLine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trial-helper", abstract: "Write or observe beside a trial, as standard input says.",
        shouldDisplay: false)

    func run() throws { try asChild { try TrialHelper.run(drivers: Drivers.all) } }
}

struct TrialCommandLine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trial", abstract: "Run the trial whose spec stands on standard input.", shouldDisplay: false)

    @Option(help: "Where result.json goes; exists.")
    var resultDir = "."

    @Option(help: "Where the store goes; exists and is empty.")
    var storeDir = "."

    @Flag(help: "Only say which specs this binary reads, and which drivers it has.")
    var protocols = false

    func run() throws {
        if protocols { return print(String(decoding: try TrialProtocol(Drivers.all).json(), as: UTF8.self)) }
        try asChild {
            try TrialCommand.run(
                spec: FileHandle.standardInput.readDataToEndOfFile(), drivers: Drivers.all,
                resultDirectory: resultDir, storeDirectory: storeDir)
        }
    }
}
