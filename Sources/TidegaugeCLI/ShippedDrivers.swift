// The drivers of this package by the product that has them: so that a program knows of the ones it was built without, which
// scenarios that ship may name. Values only.

struct ShippedDrivers {
    /// The library to list in a program of one's own.
    let product: String
    /// The program of this package that has them.
    let program: String
    let names: [String]

    static let all = [
        ShippedDrivers(product: "TidegaugeStillingWellDriver", program: "tidegauge", names: ["stillingwell"]),
        ShippedDrivers(product: "TidegaugeSQLiteHooksDriver", program: "tidegauge", names: ["sqlite-hooks"]),
        ShippedDrivers(
            product: "TidegaugeNotificationQueueDriver", program: "tidegauge",
            names: ["notification-queue", "typed-notifications"]),
        ShippedDrivers(product: "TidegaugeFetchedResultsDriver", program: "tidegauge", names: ["fetched-results"]),
        ShippedDrivers(
            product: "TidegaugeFlawedDriver", program: "tidegauge",
            names: [
                "fetched-results-legacy", "flawed-callback-under-lock", "flawed-waits-for-observers",
                "flawed-refresh-waits-for-turn", "flawed-cancel-waits", "flawed-called-under-registry",
                "flawed-reader-pool", "flawed-async-write-held", "flawed-lock-order", "flawed-foreign-locks",
                "flawed-answers-counted", "flawed-close-forgets-refresh", "flawed-workers-starve",
                "flawed-bounded-mailbox", "flawed-sync-on-own-queue",
            ]),
        // Nothing takes as long to build as GRDB.
        ShippedDrivers(
            product: "TidegaugeGRDBDriver", program: "tidegauge-peers", names: ["grdb-pool", "grdb-memory"]),
        ShippedDrivers(product: "TidegaugeNullServerDriver", program: "tidegauge-peers", names: ["null-server"]),
        ShippedDrivers(
            product: "TidegaugePostgresDriver", program: "tidegauge-peers",
            names: [
                "postgres-poll", "postgres-notify", "postgres-notify-rows", "postgres-batch-1ms", "postgres-batch-10ms",
                "postgres-batch-100ms", "postgres-wal", "flawed-postgres-outbox", "flawed-postgres-doorbell",
                "flawed-postgres-late-listen",
            ]),
    ]

    /// Why a program without one of them has none, and what has.
    static func remedy(_ name: String) -> String? {
        all.first { $0.names.contains(name) }.map {
            """
            this build leaves out driver \(name): build it with `swift build -c release --product \($0.program)` (in a program of \
            your own list product \($0.product))
            """
        }
    }
}
