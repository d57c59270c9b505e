// Tidegauge with faulty stores, for tests of the parent process. It also has a correct store whose commits an
// environment variable slows down, an agent with a faster clock, and a relay that simulates a bad connection to a host.
import Foundation
import TidegaugeCLI
import TidegaugeHarnessFixtures

let delayNs = ProcessInfo.processInfo.environment["TIDEGAUGE_FIXTURE_DELAY_NS"].flatMap { Int64($0) } ?? 0
tidegaugeMain(
    drivers: [ModelDriver(delayNs: delayNs)] + Fault.allCases.map { FaultyDriver($0) },
    commands: [DriftingAgentCommand.self, RelayCommand.self])
