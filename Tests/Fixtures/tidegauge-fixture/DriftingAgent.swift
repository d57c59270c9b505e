// An agent with a clock that is faster than the machine's.
import ArgumentParser
import TidegaugeTrialRunner

struct DriftingAgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drifting-agent", abstract: "Serve a trial by a clock that gains 50 µs per second.")

    @Flag(help: "Print the identity of the binary and of the machine.")
    var describe = false

    func run() throws { try Agent(describes: describe, fasterPPM: 50).run() }
}
