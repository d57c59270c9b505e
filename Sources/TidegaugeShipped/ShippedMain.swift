// The command line of the shipped programs, with commands for store files.
import TidegaugeCLI
import TidegaugeDriver
import TidegaugeStillingWellDriver

/// Runs the command line of this package and exits with its outcome. Called once, from `main`.
/// - Parameter peers: additional drivers that run only if `--driver` or a scenario names them.
public func shippedMain(peers: [any StoreDriver] = []) -> Never {
    let own = StillingWellDriver()
    tidegaugeMain(
        drivers: [own], peers: linkedDrivers.filter { $0.name != own.name } + peers,
        commands: [VerifyCommand.self, RecoverCommand.self])
}
