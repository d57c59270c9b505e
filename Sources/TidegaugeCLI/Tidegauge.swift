// The command line as a library, so that a binary with other drivers is ten lines. One file per subcommand.
import ArgumentParser
import Foundation
import Harness
import NoopDriver
import StoreDriver

/// Runs the command line on `drivers` and exits with its outcome. Call once, from `main`.
/// - Parameter peers: further drivers, which run only where `--driver` or a scenario names them; as does the no-op driver,
///   which is always there, to say what the harness itself costs.
public func tidegaugeMain(drivers: [any StoreDriver], peers: [any StoreDriver] = []) -> Never {
    Tidegauge.drivers = [NoopDriver()] + drivers + peers
    Tidegauge.askedFor = Set(peers.map(\.name) + ["noop"])
    Tidegauge.main()
    exit(Outcome.pass.rawValue)
}

struct Tidegauge: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidegauge",
        abstract: "Measures how a change moves through a live store until everyone who watches has seen it.",
        subcommands: [
            RunCommand.self, ExploreCommand.self, ReplayCommand.self, CheckCommand.self, ListCommand.self,
            ReportCommand.self, CompareCommand.self, CalibrateCommand.self, HistoryCommand.self, BisectCommand.self,
            SchemaCommand.self, TrialCommandLine.self, TrialHelperCommandLine.self,
        ])

    /// Written once, before anything is parsed.
    nonisolated(unsafe) fileprivate(set) static var drivers: [any StoreDriver] = []

    /// Names of drivers that run only where they are named. Written once, as `drivers`.
    nonisolated(unsafe) fileprivate(set) static var askedFor: Set<String> = []

    static var driverNames: [String] { drivers.map(\.name) }
}

extension ExitCode {
    init(_ outcome: Outcome) { self.init(outcome.rawValue) }
}

/// Everything that is not data.
func printError(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
