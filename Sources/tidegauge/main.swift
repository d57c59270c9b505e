// The tidegauge that ships: the command line with the drivers that come with it.
import LiveStoreDriver
import NullDriver
import TidegaugeCLI

tidegaugeMain(drivers: [NullDriver(), LiveStoreDriver()])
