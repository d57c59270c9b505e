// Tidegauge with stores that misbehave, for tests of what the parent process does about it; and with a sound one, whose
// commits can be made slow from outside, as a commit of a repository that made them so; and with a bad way to a host.
import Foundation
import TidegaugeCLI
import TidegaugeHarnessFixtures

let delayNs = ProcessInfo.processInfo.environment["TIDEGAUGE_FIXTURE_DELAY_NS"].flatMap { Int64($0) } ?? 0
tidegaugeMain(
    drivers: [ModelDriver(delayNs: delayNs)] + Fault.allCases.map { FaultyDriver($0) },
    commands: [DriftingAgentCommand.self, RelayCommand.self])
