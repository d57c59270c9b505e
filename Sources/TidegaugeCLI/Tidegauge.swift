// The command line as a library, so that a binary with other drivers is ten lines. One file per subcommand.
import ArgumentParser
import Foundation
import Harness
import StoreDriver

/// Runs the command line on `drivers` and exits with its outcome. Call once, from `main`.
public func tidegaugeMain(drivers: [any StoreDriver]) -> Never {
    Tidegauge.drivers = drivers
    Tidegauge.main()
    exit(Outcome.pass.rawValue)
}

struct Tidegauge: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidegauge",
        abstract: "Measures how a change moves through a live store until everyone who watches has seen it.",
        subcommands: [
            RunCommand.self, CheckCommand.self, ListCommand.self, ReportCommand.self, SchemaCommand.self,
            TrialCommandLine.self,
        ])

    /// Written once, before anything is parsed.
    nonisolated(unsafe) fileprivate(set) static var drivers: [any StoreDriver] = []

    static var driverNames: [String] { drivers.map(\.name) }
}

extension ExitCode {
    init(_ outcome: Outcome) { self.init(outcome.rawValue) }
}

/// Everything that is not data.
func printError(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
