// The tidegauge that ships: the command line with the drivers that come with it.
import FetchedResultsDriver
import FlawedDriver
import GRDBDriver
import LiveStoreDriver
import NotificationQueueDriver
import SQLiteHooksDriver
import TidegaugeCLI

tidegaugeMain(
    drivers: [LiveStoreDriver()],
    peers: [
        GRDBDriver(.pool), GRDBDriver(.memory), SQLiteHooksDriver(), NotificationQueueDriver(),
        NotificationQueueDriver(.typed), FetchedResultsDriver(), LegacyDriver(),
    ] + FlawedDriver.all)
