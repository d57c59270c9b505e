// swift-tools-version: 6.1
import PackageDescription

// jemalloc cannot live in one process with a sanitizer's own allocator, so sanitizer builds leave it out
// (`make tsan` and `make asan` set the variable); the allocation columns are empty then.
let sanitizing = Context.environment["TIDEGAUGE_SANITIZE"] != nil

let jemalloc: [Target.Dependency] = sanitizing ? [] : ["CJemalloc"]

// What only some users of the package need stands behind a trait: who turns it off does not even fetch it. With `traits: []`
// LiveStore brings swift-log and nothing else. At home all are on: programs that leave one out say so by what they depend on,
// so that everything is built by the same flags and only once.
func needed(by trait: String, _ name: String, from package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

let openCombine = needed(by: "Publishers", "OpenCombine", from: "OpenCombine")
let argumentParser = needed(by: "Harness", "ArgumentParser", from: "swift-argument-parser")

let package = Package(
    name: "tidegauge",
    products: [
        .library(name: "LiveStore", targets: ["LiveStore"]),
        .library(name: "LiveStoreCombine", targets: ["LiveStoreCombine"]),
        .library(name: "FetchedResults", targets: ["FetchedResults"]),
        .library(name: "FetchedResultsCombine", targets: ["FetchedResultsCombine"]),
        .library(name: "TypedNotifications", targets: ["TypedNotifications"]),
        .library(name: "TidegaugeCLI", targets: ["TidegaugeCLI", "StoreDriver"]),
        .executable(name: "tidegauge", targets: ["tidegauge"]),
        .executable(name: "tidegauge-peers", targets: ["tidegauge-peers"]),
        // Engines, for a command line of one's own that measures them beside another.
        .library(name: "FetchedResultsDriver", targets: ["FetchedResultsDriver"]),
        .library(name: "FlawedDriver", targets: ["FlawedDriver"]),
        .library(name: "GRDBDriver", targets: ["GRDBDriver"]),
        .library(name: "LiveStoreDriver", targets: ["LiveStoreDriver"]),
        .library(name: "NoopDriver", targets: ["NoopDriver"]),
        .library(name: "NotificationQueueDriver", targets: ["NotificationQueueDriver"]),
        .library(name: "NullServerDriver", targets: ["NullServerDriver"]),
        .library(name: "PostgresDriver", targets: ["PostgresDriver"]),
        .library(name: "SQLiteHooksDriver", targets: ["SQLiteHooksDriver"]),
    ],
    traits: [
        .trait(
            name: "Publishers",
            description: "Changes as publishers of OpenCombine: LiveStoreCombine, FetchedResultsCombine"),
        .trait(
            name: "Harness", description: "The command line and its drivers: TidegaugeCLI, LiveStoreDriver and others",
            enabledTraits: ["Publishers"]),
        .trait(name: "GRDB", description: "GRDB as a driver: GRDBDriver", enabledTraits: ["Harness"]),
        .default(enabledTraits: ["GRDB"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.8.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.0.0"),
    ],
    targets: [
        // What is measured.
        .target(
            name: "LiveStore",
            dependencies: [
                "Basis", "CPlatform", "LiveStoreEngine", "RankedTree", "TracedSync",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // Below its face: storage, rows, queries, upkeep.
        .target(
            name: "LiveStoreEngine",
            dependencies: [
                "Basis", "CEngine", "CLMDB", "CPlatform", "RankedTree", "TracedSync",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The counted tree behind every query.
        .target(name: "RankedTree"),
        // Apart from the store, so that only who wants publishers carries OpenCombine.
        .target(
            name: "LiveStoreCombine",
            dependencies: ["Basis", "LiveStore", "TracedSync", openCombine]),
        .target(
            name: "FetchedResults",
            dependencies: [
                "LiveStore", "TracedSync", "TypedNotifications", .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "FetchedResultsCombine",
            dependencies: ["FetchedResults", "LiveStore", "LiveStoreCombine", openCombine]),
        .target(name: "TypedNotifications", dependencies: ["TracedSync"]),
        .target(name: "TracedSync", dependencies: ["Basis", "CPlatform"]),
        // Below everything: the clock, the seeded generator, the binary search, the word that was probably meant, names of
        // symbols, SHA-256, files that are closed on exec.
        .target(name: "Basis"),

        // What measures.
        .target(name: "Scenario", dependencies: ["Basis", "Statistics", needed(by: "Harness", "Yams", from: "Yams")]),
        .target(name: "StoreDriver", dependencies: ["Basis", "TracedSync"]),
        .target(name: "NoopDriver", dependencies: ["StoreDriver", "TracedSync"], path: "Sources/Drivers/Noop"),
        .target(
            name: "LiveStoreDriver",
            dependencies: [
                "LiveStore", "LiveStoreCombine", "Statistics", "StoreDriver", "TracedSync", openCombine,
            ],
            path: "Sources/Drivers/LiveStore"),
        // The peers, each a target of its own: who uses the store, or a command line with other drivers, builds none.
        .target(
            name: "GRDBDriver",
            dependencies: ["StoreDriver", "TracedSync", needed(by: "GRDB", "GRDB", from: "GRDB.swift")],
            path: "Sources/Drivers/GRDB"),
        .target(
            name: "SQLiteHooksDriver", dependencies: ["CSQLite", "StoreDriver", "TracedSync"],
            path: "Sources/Drivers/SQLiteHooks"),
        // A server beside the program; in `tidegauge-peers` alone, so that `tidegauge` needs no libpq.
        .target(
            name: "PostgresDriver",
            dependencies: ["Basis", "CPlatform", "CPostgres", "Measure", "RankedTree", "StoreDriver", "TracedSync"],
            path: "Sources/Drivers/Postgres"),
        // The server that keeps nothing, beside which servers are seen.
        .target(
            name: "NullServerDriver", dependencies: ["CPlatform", "NoopDriver", "StoreDriver", "TracedSync"],
            path: "Sources/Drivers/NullServer"),
        .target(
            name: "FetchedResultsDriver",
            dependencies: ["FetchedResults", "LiveStore", "LiveStoreDriver", "StoreDriver", "TracedSync"],
            path: "Sources/Drivers/FetchedResults"),
        .target(
            name: "FlawedDriver",
            dependencies: [
                "FetchedResults", "FetchedResultsDriver", "LiveStore", "StoreDriver", "TracedSync",
                "TypedNotifications",
            ],
            path: "Sources/Drivers/Flawed"),
        .target(
            name: "NotificationQueueDriver", dependencies: ["StoreDriver", "TracedSync", "TypedNotifications"],
            path: "Sources/Drivers/NotificationQueue"),
        .target(
            name: "Measure",
            dependencies: [
                "Basis", "CLMDB", "CPlatform", "CZlib", "Scenario",
                needed(by: "Harness", "Histogram", from: "hdrhistogram-swift"),
            ] + jemalloc,
            swiftSettings: sanitizing ? [] : [.define("HAVE_JEMALLOC")]),
        .target(name: "Statistics", dependencies: ["Basis"]),
        // What valgrind counted, function by function.
        .target(name: "Profiles", dependencies: ["Basis"]),
        .target(name: "Comparison", dependencies: ["Measure", "Scenario", "Statistics"]),
        // What crosses the pipe between the process that runs trials and a child that runs one.
        .target(name: "Trials", dependencies: ["CPlatform", "Measure", "Scenario", "StoreDriver", "TracedSync"]),
        // The child: load, observers, companions, oracle, figures.
        .target(
            name: "TrialRunner",
            dependencies: [
                "Basis", "CFaults", "CPlatform", "Measure", "Scenario", "Statistics", "StoreDriver", "TracedSync",
                "Trials",
            ]),
        // The parent: child processes, sweeps, limits.
        .target(
            name: "Runs",
            dependencies: ["Measure", "Profiles", "Scenario", "Statistics", "StoreDriver", "TracedSync", "Trials"]),
        .target(
            name: "Report",
            dependencies: [
                "Comparison", "Measure", "Profiles", "Scenario", "Statistics", "Trials",
                needed(by: "Harness", "Mustache", from: "swift-mustache"),
            ],
            exclude: ["Pages"], plugins: ["EmbedTexts"]),
        .target(
            name: "TidegaugeCLI",
            dependencies: [
                "Basis", "Comparison", "Measure", "NoopDriver", "Profiles", "Report", "Runs", "Scenario", "Statistics",
                "StoreDriver", "TracedSync", "TrialRunner", "Trials",
                argumentParser,
                .product(name: "Logging", package: "swift-log"),
            ], plugins: ["EmbedTexts"]),
        // The scenarios as text inside the command line, and the templates of pages inside their target.
        .plugin(name: "EmbedTexts", capability: .buildTool(), path: "Tools/EmbedTexts"),
        // The drivers and commands of both programs.
        .target(
            name: "TidegaugeShipped",
            dependencies: [
                "FetchedResultsDriver", "FlawedDriver", "LiveStore", "LiveStoreDriver", "NotificationQueueDriver",
                "SQLiteHooksDriver", "StoreDriver", "TidegaugeCLI", argumentParser,
            ]),
        .executableTarget(name: "tidegauge", dependencies: ["TidegaugeShipped"]),
        // The same with GRDB, whose build is the longest of all, and with PostgreSQL.
        .executableTarget(
            name: "tidegauge-peers",
            dependencies: ["GRDBDriver", "NullServerDriver", "PostgresDriver", "TidegaugeShipped"]),

        // The program of the README.
        .executableTarget(name: "notes-example", dependencies: ["LiveStore"], path: "Examples/Notes"),
        // The one that the tutorial builds.
        .executableTarget(name: "todo", dependencies: ["LiveStore"], path: "Examples/Todo", exclude: ["day.txt"]),

        // The system below.
        .target(name: "CPlatform"),
        // Calls of LMDB that outlive damaged pages.
        .target(name: "CEngine", dependencies: ["CLMDB", "CPlatform"]),
        .target(name: "CFaults"),
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CJemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),

        .testTarget(
            name: "FetchedResultsTests",
            dependencies: [
                "FetchedResults", "LiveStore", "LiveStoreFixtures", "SeededRandom", "TracedSync", "TypedNotifications",
            ]),
        .testTarget(
            name: "TypedNotificationsTests", dependencies: ["SeededRandom", "TracedSync", "TypedNotifications"]),
        .testTarget(name: "TracedSyncTests", dependencies: ["Basis", "CPlatform", "TestThreads", "TracedSync"]),
        .testTarget(
            name: "LiveStoreTests",
            dependencies: [
                "CEngine", "CLMDB", "CPlatform", "LiveStore", "LiveStoreEngine", "LiveStoreFixtures", "RankedTree",
                "SeededRandom", "TestThreads", "TracedSync", "livestore-fixture", "notes-example", "todo",
            ]),
        .testTarget(
            name: "LiveStoreCombineTests",
            dependencies: ["LiveStore", "LiveStoreCombine", "LiveStoreFixtures", "TracedSync", openCombine]),
        .testTarget(
            name: "FetchedResultsCombineTests",
            dependencies: ["FetchedResults", "FetchedResultsCombine", "LiveStore", "LiveStoreCombine", openCombine]),
        .testTarget(name: "ScenarioTests", dependencies: ["Basis", "Scenario", "SeededRandom"], exclude: ["Golden"]),
        .testTarget(
            name: "MeasureTests",
            dependencies: ["CPlatform", "CZlib", "Measure", "Scenario", "SeededRandom", "TestThreads"]),
        .testTarget(name: "StatisticsTests", dependencies: ["Basis", "SeededRandom", "Statistics"]),
        .testTarget(name: "ProfilesTests", dependencies: ["Profiles", "SeededRandom"]),
        .testTarget(
            name: "ComparisonTests", dependencies: ["Comparison", "Measure", "Scenario", "SeededRandom", "Statistics"]),
        .testTarget(
            name: "ReportTests",
            dependencies: ["Comparison", "Measure", "Profiles", "Report", "Scenario", "SeededRandom", "Trials"],
            exclude: ["Golden"]),
        .testTarget(
            name: "HarnessTests",
            dependencies: [
                "CFaults", "FetchedResultsDriver", "FlawedDriver", "GRDBDriver", "HarnessFixtures",
                "LiveStore", "LiveStoreDriver", "Measure", "NotificationQueueDriver",
                "NoopDriver", "NullServerDriver", "PostgresDriver", "Runs", "SQLiteHooksDriver", "Scenario",
                "SeededRandom", "Statistics",
                "StoreDriver",
                "TemplateDriver", "TestThreads", "TracedSync", "TrialRunner", "Trials", "tidegauge-fixture",
            ]),
        // Inputs that nobody has thought of, for all that reads what others may have written (`make fuzz`).
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "CLMDB", "LiveStore", "LiveStoreEngine", "LiveStoreFixtures", "Report", "Scenario", "SeededRandom",
                "TestThreads",
                "Trials",
            ],
            exclude: ["Corpus"]),
        // Reads the sources and counts.
        .testTarget(name: "StructureTests"),
        .testTarget(
            name: "TidegaugeCLITests",
            dependencies: [
                "LiveStore", "Measure", "Runs", "TestThreads", "TidegaugeCLI", "tidegauge", "tidegauge-fixture",
                "tidegauge-peers",
            ]),

        // Threads for tests that wait.
        .target(name: "TestThreads", path: "Tests/Fixtures/TestThreads"),

        // Random numbers of property tests.
        .target(name: "SeededRandom", path: "Tests/Fixtures/SeededRandom"),

        // Stores that are right, and stores that misbehave on purpose, for the tests of the harness.
        .target(
            name: "HarnessFixtures", dependencies: ["StoreDriver", "TracedSync"],
            path: "Tests/Fixtures/HarnessFixtures"),
        .executableTarget(
            name: "tidegauge-fixture",
            dependencies: ["HarnessFixtures", "TidegaugeCLI", "TrialRunner", argumentParser],
            path: "Tests/Fixtures/tidegauge-fixture"),
        // The driver to copy. It stands in a package of its own, as a reader's would; `make external` builds and runs that.
        .target(
            name: "TemplateDriver", dependencies: ["StoreDriver"],
            path: "Tests/Fixtures/ExternalDriver/Sources/TemplateDriver"),

        // A process that has a store open, for the tests of many processes, and the models it shares with them.
        .target(
            name: "LiveStoreFixtures", dependencies: ["LiveStore", "TracedSync"],
            path: "Tests/Fixtures/LiveStoreFixtures"),
        .executableTarget(
            name: "livestore-fixture", dependencies: ["LiveStore", "LiveStoreFixtures", "TracedSync"],
            path: "Tests/Fixtures/livestore-fixture"),

        // The torture program (`make stress powercut damage`). No test depends on it, because its recorder replaces functions of
        // the C library; `swift build --build-tests` builds it too.
        .target(name: "CWriteRecorder", path: "Tests/Fixtures/CWriteRecorder"),
        .target(name: "TortureSupport", dependencies: ["LiveStore", argumentParser], path: "Tests/Torture/Support"),
        .target(
            name: "LiveStorePowerCut",
            dependencies: [
                "CWriteRecorder", "LiveStore", "LiveStoreEngine", "SeededRandom", "TortureSupport", "TracedSync",
                argumentParser,
            ],
            path: "Tests/Torture/PowerCut"),
        .target(
            name: "LiveStoreStress",
            dependencies: [
                "CPlatform", "LiveStore", "LiveStoreFixtures", "SeededRandom", "TortureSupport", "TracedSync",
                argumentParser,
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Torture/Stress"),
        .target(
            name: "LiveStoreDamage",
            dependencies: [
                "CPlatform", "LiveStore", "LiveStoreFixtures", "SeededRandom", "TortureSupport", argumentParser,
            ],
            path: "Tests/Torture/Damage"),
        .executableTarget(
            name: "livestore-torture",
            dependencies: ["LiveStoreDamage", "LiveStorePowerCut", "LiveStoreStress", argumentParser],
            path: "Tests/Torture/livestore-torture"),
    ],
    swiftLanguageModes: [.v6]
)

// Tests run these modules optimised, with their assertions (Tools/test.sh and Tools/sanitize.sh set the variable). A package that
// depends on one with such flags is refused, so nothing else sets it. Optimising a module takes four times its compilation: that of
// Scenario, TrialRunner, Trials and Comparison takes longer than the tests gain.
if Context.environment["TIDEGAUGE_OPTIMIZE"] != nil {
    let worthwhile = ["Basis", "TracedSync", "RankedTree", "LiveStoreEngine", "LiveStore", "Measure", "Statistics"]
    for target in package.targets where worthwhile.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O", "-assert-config", "Debug"])]
    }
}

// What waits for trials and writes about them, and has no part in the process of one: optimising it takes a good part of the
// build and is worth a fraction of a second of a run (the Makefile sets the variable where it builds programs to be used).
if Context.environment["TIDEGAUGE_QUICK"] != nil {
    for target in package.targets where ["Report", "Runs", "TidegaugeCLI"].contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone", "-assert-config", "Release"])]
    }
}
