// Tidegauge with stores that misbehave, for tests of what the parent process does about it.
import HarnessFixtures
import NullDriver
import TidegaugeCLI

tidegaugeMain(drivers: [NullDriver(), ModelDriver()] + Fault.allCases.map { FaultyDriver($0) })
