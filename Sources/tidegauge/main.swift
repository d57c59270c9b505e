// The tidegauge that ships: the command line with the drivers that come with it.
import GRDBDriver
import LiveStoreDriver
import NotificationQueueDriver
import NullDriver
import SQLiteHooksDriver
import TidegaugeCLI

tidegaugeMain(
    drivers: [NullDriver(), LiveStoreDriver()],
    peers: [GRDBDriver(.pool), GRDBDriver(.memory), SQLiteHooksDriver(), NotificationQueueDriver()])
