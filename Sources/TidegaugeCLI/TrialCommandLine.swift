// `tidegauge trial`, the child process of a trial, and `tidegauge agent`, a further process of a trial. The help does
// not show them.
import ArgumentParser
import CStillingWellPlatform
import Foundation
import TidegaugeRun
import TidegaugeSpec
import TidegaugeTrialRunner

/// Runs the child's side and ends the process.
private func asChild(_ body: () throws -> Void) throws -> Never {
    // A dead parent closes the pipe. The next write then ends this process.
    signal(SIGPIPE, SIG_DFL)
    do {
        try body()
    } catch {
        printError("\(error)")
        throw ExitCode(.fault)
    }
    // Threads of a hung trial may still exist, and an ordinary exit could wait for them.
    _exit(Outcome.pass.rawValue)
}

/// `tidegauge agent`: started by a trial on a host, or by an agent as its worker.
struct AgentCommandLine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent", abstract: "Serve a trial on this host, through standard input and output.",
        shouldDisplay: false)

    @Flag(help: "Print the identity of the binary and of the machine.")
    var describe = false

    @Flag(help: "Run as the process that an agent starts.")
    var worker = false

    func run() throws {
        try asChild {
            if worker {
                try AgentWorker.run(drivers: Drivers.all)
            } else {
                try Agent(describes: describe).run()
            }
        }
    }
}

struct TrialCommandLine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trial", abstract: "Run the trial whose spec is on standard input.", shouldDisplay: false)

    @Option(help: "Existing folder for result.json.")
    var resultDir = "."

    @Option(help: "Existing empty folder for the store.")
    var storeDir = "."

    @Option(help: "The hosts, as JSON.")
    var hosts: String?

    @Option(help: "Engines that run in processes of their own, as JSON.")
    var engines: String?

    @Flag(help: "Only print the spec version that this binary reads, and its drivers.")
    var protocols = false

    func run() throws {
        if protocols { return print(String(decoding: try TrialProtocol(Drivers.all).json(), as: UTF8.self)) }
        try asChild {
            if let engines {
                // Makes this process the parent of processes that an engine leaves behind, so that it can reap them.
                cp_adopt_orphans()
                try Engines.add(engines)
            }
            try TrialCommand.run(
                spec: FileHandle.standardInput.readToEnd() ?? Data(), drivers: Drivers.all,
                resultDirectory: resultDir, storeDirectory: storeDir,
                hosts: try hosts.map { try JSONDecoder().decode([HostEntry].self, from: Data($0.utf8)) } ?? [])
        }
    }
}
