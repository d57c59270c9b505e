// The tidegauge that ships: the command line with the drivers that come with it, but for GRDB, which would make the first
// build half as long again: `tidegauge-peers` is the same with it.
import FetchedResultsDriver
import FlawedDriver
import LiveStoreDriver
import NotificationQueueDriver
import SQLiteHooksDriver
import TidegaugeCLI

tidegaugeMain(
    drivers: [LiveStoreDriver()],
    peers: [
        SQLiteHooksDriver(), NotificationQueueDriver(), NotificationQueueDriver(.typed), FetchedResultsDriver(),
        LegacyDriver(),
    ] + FlawedDriver.all,
    commands: [VerifyCommand.self, SalvageCommand.self])
