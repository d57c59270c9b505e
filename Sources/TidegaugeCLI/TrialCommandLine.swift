// `tidegauge trial`: the child's side of one trial. Not for people, so not in the help.
import ArgumentParser
import Foundation
import TidegaugeRun
import TidegaugeSpec
import TidegaugeTrialRunner

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

/// `tidegauge agent`: what a trial starts on a host.
struct AgentCommandLine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent", abstract: "Serve a trial on this host, through standard input and output.",
        shouldDisplay: false)

    @Flag(help: "Say which binary and which machine this is.")
    var describe = false

    @Flag(help: "Be the process that an agent starts.")
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
        commandName: "trial", abstract: "Run the trial whose spec stands on standard input.", shouldDisplay: false)

    @Option(help: "Where result.json goes; exists.")
    var resultDir = "."

    @Option(help: "Where the store goes; exists and is empty.")
    var storeDir = "."

    @Option(help: "What hosts there are, as JSON.")
    var hosts: String?

    @Flag(help: "Only say which specs this binary reads, and which drivers it has.")
    var protocols = false

    func run() throws {
        if protocols { return print(String(decoding: try TrialProtocol(Drivers.all).json(), as: UTF8.self)) }
        try asChild {
            try TrialCommand.run(
                spec: FileHandle.standardInput.readToEnd() ?? Data(), drivers: Drivers.all,
                resultDirectory: resultDir, storeDirectory: storeDir,
                hosts: try hosts.map { try JSONDecoder().decode([HostEntry].self, from: Data($0.utf8)) } ?? [])
        }
    }
}
