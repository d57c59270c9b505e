// Tidegauge with stores that misbehave, for tests of what the parent process does about it.
import HarnessFixtures
import TidegaugeCLI

tidegaugeMain(drivers: [ModelDriver()] + Fault.allCases.map { FaultyDriver($0) })
