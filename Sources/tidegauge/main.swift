// The tidegauge that ships: the command line with the drivers that come with it.
import NullDriver
import TidegaugeCLI

tidegaugeMain(drivers: [NullDriver()])
