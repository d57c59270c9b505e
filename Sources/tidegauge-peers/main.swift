// The tidegauge that ships, and GRDB.
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
