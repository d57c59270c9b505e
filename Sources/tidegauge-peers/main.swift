// The tidegauge that ships, GRDB and PostgreSQL.
import FetchedResultsDriver
import FlawedDriver
import GRDBDriver
import LiveStoreDriver
import NotificationQueueDriver
import NullServerDriver
import PostgresDriver
import SQLiteHooksDriver
import TidegaugeCLI

tidegaugeMain(
    drivers: [LiveStoreDriver()],
    peers: [
        GRDBDriver(.pool), GRDBDriver(.memory), SQLiteHooksDriver(), NullServerDriver(), NotificationQueueDriver(),
        NotificationQueueDriver(.typed), FetchedResultsDriver(), LegacyDriver(),
    ] + PostgresDriver.all + FlawedDriver.all)
