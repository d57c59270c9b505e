// The drivers of this package by product, so that a program knows drivers that it was built without and that embedded
// scenarios may name. Values only.

struct ShippedDrivers {
    /// Library product for programs of other packages.
    let product: String
    /// Program of this package that contains them.
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
        // GRDB takes longer to build than all the rest.
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

    /// Returns why a program lacks the driver and which one has it.
    static func remedy(_ name: String) -> String? {
        all.first { $0.names.contains(name) }.map {
            """
            this build leaves out driver \(name): build it with `swift build -c release --product \($0.program)` (in a program of \
            your own list product \($0.product))
            """
        }
    }
}
