// swift-tools-version: 6.3
import PackageDescription

// jemalloc cannot live in one process with a sanitizer's own allocator, so sanitizer builds leave it out
// (`make tsan` and `make asan` set the variable); the allocation columns are empty then.
let sanitizing = Context.environment["TIDEGAUGE_SANITIZE"] != nil

let jemalloc: [Target.Dependency] = sanitizing ? [] : ["CTidegaugeJemalloc"]

// Dependencies that only some users need are behind traits: a package that turns a trait off does not fetch them. With
// `traits: []`, StillingWell brings swift-log and nothing else. In this package all traits are on, so that everything
// is built once, with the same flags. A program leaves an engine out by not depending on its target.
func needed(by trait: String, _ name: String, from package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

let openCombine = needed(by: "Publishers", "OpenCombine", from: "OpenCombine")
let argumentParser = needed(by: "Harness", "ArgumentParser", from: "swift-argument-parser")

/// A folder of `Sources/Drivers`: the module of an engine. `Tools/TidegaugeLinkDrivers` lists the drivers of a program by these modules.
struct DriverFolder {
    let name: String
    /// The target that links it, or nil for modules that every command line links.
    let program: String?
    let dependencies: [Target.Dependency]

    init(_ name: String, in program: String?, _ dependencies: [Target.Dependency]) {
        (self.name, self.program, self.dependencies) = (name, program, dependencies)
    }

    var module: String { "Tidegauge\(name)Driver" }
    /// A library, so that another package's command line can measure the engine.
    var product: Product { .library(name: module, targets: [module]) }
    var target: Target {
        .target(
            name: module, dependencies: ["TidegaugeDriver", "StillingWellSync"] + dependencies,
            path: "Sources/Drivers/\(name)", exclude: ["drivers.txt"])
    }

    static func linked(in program: String) -> [Target.Dependency] {
        drivers.filter { $0.program == program }.map { .byName(name: $0.module) }
    }
}

let drivers = [
    DriverFolder("Noop", in: nil, []),
    // Engines in processes of their own, which the command line makes drivers of.
    DriverFolder(
        "Process", in: nil, ["StillingWellBasis", "CStillingWellPlatform", "TidegaugeMeasure", "TidegaugeSpec"]),
    DriverFolder(
        "StillingWell", in: "TidegaugeShipped",
        ["StillingWell", "StillingWellCombine", "TidegaugeStatistics", openCombine]),
    DriverFolder("SQLiteHooks", in: "TidegaugeShipped", ["CTidegaugeSQLite"]),
    DriverFolder("NotificationQueue", in: "TidegaugeShipped", ["TypedNotifications"]),
    DriverFolder(
        "FetchedResults", in: "TidegaugeShipped", ["FetchedResults", "StillingWell", "TidegaugeStillingWellDriver"]),
    DriverFolder(
        "Flawed", in: "TidegaugeShipped",
        ["FetchedResults", "TidegaugeFetchedResultsDriver", "StillingWell", "TypedNotifications"]),
    // GRDB takes longest of these to build. Only PostgreSQL needs libpq.
    DriverFolder("GRDB", in: "tidegauge-peers", [needed(by: "GRDB", "GRDB", from: "GRDB.swift")]),
    DriverFolder("NullServer", in: "tidegauge-peers", ["CStillingWellPlatform", "TidegaugeNoopDriver"]),
    DriverFolder(
        "Postgres", in: "tidegauge-peers", ["StillingWellBasis", "CStillingWellPlatform", "CTidegaugePostgres"]),
]

let package = Package(
    name: "tidegauge",
    products: [
        .library(name: "StillingWell", targets: ["StillingWell"]),
        .library(name: "StillingWellCombine", targets: ["StillingWellCombine"]),
        .library(name: "FetchedResults", targets: ["FetchedResults"]),
        .library(name: "FetchedResultsCombine", targets: ["FetchedResultsCombine"]),
        .library(name: "TypedNotifications", targets: ["TypedNotifications"]),
        .library(name: "TidegaugeCLI", targets: ["TidegaugeCLI", "TidegaugeDriver"]),
        .executable(name: "tidegauge", targets: ["tidegauge"]),
        .executable(name: "tidegauge-peers", targets: ["tidegauge-peers"]),
    ] + drivers.map(\.product),
    traits: [
        .trait(
            name: "Publishers",
            description: "Changes as publishers of OpenCombine: StillingWellCombine, FetchedResultsCombine"),
        .trait(
            name: "Harness",
            description: "The command line and its drivers: TidegaugeCLI, TidegaugeStillingWellDriver and others",
            enabledTraits: ["Publishers"]),
        .trait(name: "GRDB", description: "GRDB as a driver: TidegaugeGRDBDriver", enabledTraits: ["Harness"]),
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
    targets: drivers.map(\.target) + [
        // The store, which is measured, and its companions.
        .target(
            name: "StillingWell",
            dependencies: [
                "StillingWellBasis", "CStillingWellEngine", "CStillingWellLMDB", "CStillingWellPlatform",
                "StillingWellTree", "StillingWellSync",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The counted tree behind every query.
        .target(name: "StillingWellTree"),
        // Apart from the store, so that only users of publishers need OpenCombine.
        .target(
            name: "StillingWellCombine",
            dependencies: ["StillingWellBasis", "StillingWell", "StillingWellSync", openCombine]),
        .target(
            name: "FetchedResults",
            dependencies: [
                "StillingWell", "StillingWellSync", "TypedNotifications",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "FetchedResultsCombine",
            dependencies: ["FetchedResults", "StillingWell", "StillingWellCombine", openCombine]),
        .target(name: "TypedNotifications", dependencies: ["StillingWellSync"]),
        .target(
            name: "StillingWellSync", dependencies: ["StillingWellBasis", "CStillingWellPlatform"],
            // Values stored inline in constants, as `Synchronization.Mutex` has them (InlineCell.swift).
            swiftSettings: sanitizing
                ? [.define("SANITIZED")]
                : [.enableExperimentalFeature("RawLayout"), .enableExperimentalFeature("BuiltinModule")]),
        // Basis of all: the clock, the seeded generator, the binary search, the word that was probably meant, names of
        // symbols, SHA-256, the reader of JSON from bytes, files that are closed on exec, and others.
        .target(name: "StillingWellBasis"),

        // The harness, which measures. First trials, metrics and limits as values.
        .target(name: "TidegaugeSpec"),
        // Scenario files: YAML, rules, search, schema, documentation.
        .target(
            name: "TidegaugeScenario",
            dependencies: [
                "StillingWellBasis", "TidegaugeSpec", "TidegaugeStatistics",
                needed(by: "Harness", "Yams", from: "Yams"),
            ]),
        // Hang analysis: wait-for graph, explorer of interleavings, stacks, symbols, lock order.
        .target(
            name: "TidegaugeHangs", dependencies: ["CStillingWellPlatform", "StillingWellBasis", "StillingWellSync"]),
        .target(name: "TidegaugeDriver", dependencies: ["StillingWellBasis", "StillingWellSync"]),
        .target(
            name: "TidegaugeMeasure",
            dependencies: [
                "StillingWellBasis", "CStillingWellLMDB", "CStillingWellPlatform", "CTidegaugeZlib",
                "StillingWellSync", "TidegaugeDriver", "TidegaugeSpec",
                needed(by: "Harness", "Histogram", from: "hdrhistogram-swift"),
            ] + jemalloc,
            swiftSettings: sanitizing ? [] : [.define("HAVE_JEMALLOC")]),
        .target(name: "TidegaugeStatistics", dependencies: ["StillingWellBasis"]),
        // Profiles of valgrind, function by function.
        .target(name: "TidegaugeProfiles", dependencies: ["StillingWellBasis"]),
        .target(
            name: "TidegaugeCompare", dependencies: ["TidegaugeMeasure", "TidegaugeSpec", "TidegaugeStatistics"]),
        // Values that cross the pipe between the process that runs trials and a child that runs one.
        .target(
            name: "TidegaugeTrial",
            dependencies: [
                "CStillingWellPlatform", "TidegaugeHangs", "TidegaugeMeasure", "TidegaugeSpec", "TidegaugeDriver",
                "StillingWellSync",
            ]),
        // The child: load, observers, companions, oracle, figures.
        .target(
            name: "TidegaugeTrialRunner",
            dependencies: [
                "StillingWellBasis", "CTidegaugeFaults", "CStillingWellPlatform", "TidegaugeMeasure",
                "TidegaugeHangs", "TidegaugeSpec", "TidegaugeStatistics", "TidegaugeDriver", "StillingWellSync",
                "TidegaugeTrial",
            ]),
        // The parent: child processes, sweeps, limits.
        .target(
            name: "TidegaugeRun",
            dependencies: [
                "TidegaugeMeasure", "TidegaugeProfiles", "TidegaugeSpec", "TidegaugeStatistics", "TidegaugeDriver",
                "StillingWellSync", "TidegaugeTrial",
            ]),
        .target(
            name: "TidegaugeReport",
            dependencies: [
                "TidegaugeCompare", "TidegaugeMeasure", "TidegaugeProfiles", "TidegaugeSpec", "TidegaugeStatistics",
                "TidegaugeTrial",
                needed(by: "Harness", "Mustache", from: "swift-mustache"),
            ],
            exclude: ["Pages"], plugins: ["TidegaugeEmbedTexts"]),
        .target(
            name: "TidegaugeCLI",
            dependencies: [
                "StillingWellBasis", "CStillingWellPlatform", "TidegaugeCompare", "TidegaugeMeasure",
                "TidegaugeNoopDriver",
                "TidegaugeProcessDriver", "TidegaugeProfiles", "TidegaugeReport", "TidegaugeRun", "TidegaugeScenario",
                "TidegaugeSpec", "TidegaugeStatistics",
                "TidegaugeDriver", "TidegaugeHangs", "StillingWellSync", "TidegaugeTrialRunner", "TidegaugeTrial",
                argumentParser,
                .product(name: "Logging", package: "swift-log"),
            ], plugins: ["TidegaugeEmbedTexts"]),
        // Texts inside the program: scenarios, lists of drivers, templates of pages.
        .plugin(name: "TidegaugeEmbedTexts", capability: .buildTool(), path: "Tools/TidegaugeEmbedTexts"),
        // A list of the drivers that a target depends on.
        .plugin(name: "TidegaugeLinkDrivers", capability: .buildTool(), path: "Tools/TidegaugeLinkDrivers"),
        // The drivers and commands of both programs.
        .target(
            name: "TidegaugeShipped",
            dependencies: ["StillingWell", "TidegaugeDriver", "TidegaugeCLI", argumentParser]
                + DriverFolder.linked(in: "TidegaugeShipped"),
            plugins: ["TidegaugeLinkDrivers"]),
        .executableTarget(name: "tidegauge", dependencies: ["TidegaugeShipped"]),
        .executableTarget(
            name: "tidegauge-peers",
            dependencies: ["TidegaugeDriver", "TidegaugeShipped"] + DriverFolder.linked(in: "tidegauge-peers"),
            plugins: ["TidegaugeLinkDrivers"]),

        // The program of the README.
        .executableTarget(name: "stillingwell-notes", dependencies: ["StillingWell"], path: "Examples/Notes"),
        // The program that the tutorial builds.
        .executableTarget(
            name: "stillingwell-todo", dependencies: ["StillingWell"], path: "Examples/Todo", exclude: ["day.txt"]),

        // Calls of the system that Swift does not import.
        .target(name: "CStillingWellPlatform"),
        // Calls of LMDB that return an error at a damaged page.
        .target(name: "CStillingWellEngine", dependencies: ["CStillingWellLMDB", "CStillingWellPlatform"]),
        .target(name: "CTidegaugeFaults"),
        .systemLibrary(name: "CStillingWellLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        .systemLibrary(name: "CTidegaugeSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CTidegaugeZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CTidegaugePostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CTidegaugeJemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),

        .testTarget(
            name: "FetchedResultsTests",
            dependencies: [
                "FetchedResults", "StillingWell", "StillingWellFixtures", "StillingWellSeededRandom",
                "StillingWellSync", "TypedNotifications",
            ]),
        .testTarget(
            name: "TypedNotificationsTests",
            dependencies: ["StillingWellSeededRandom", "StillingWellSync", "TypedNotifications"]),
        .testTarget(
            name: "StillingWellSyncTests",
            dependencies: [
                "StillingWellBasis", "CStillingWellPlatform", "StillingWellTestThreads", "StillingWellSync",
                "TidegaugeHangs",
            ]),
        .testTarget(
            name: "StillingWellTests",
            dependencies: [
                "StillingWellBasis", "CStillingWellEngine", "CStillingWellLMDB", "CStillingWellPlatform",
                "StillingWell", "StillingWellFixtures", "StillingWellTree",
                "StillingWellSeededRandom", "StillingWellTestThreads", "StillingWellSync", "TidegaugeHangs",
                "stillingwell-fixture",
                "stillingwell-notes", "stillingwell-todo",
            ]),
        .testTarget(
            name: "StillingWellCombineTests",
            dependencies: [
                "StillingWell", "StillingWellCombine", "StillingWellFixtures", "StillingWellSync", openCombine,
            ]),
        .testTarget(
            name: "FetchedResultsCombineTests",
            dependencies: [
                "FetchedResults", "FetchedResultsCombine", "StillingWell", "StillingWellCombine", openCombine,
            ]),
        .testTarget(
            name: "TidegaugeScenarioTests",
            dependencies: ["StillingWellBasis", "TidegaugeScenario", "TidegaugeSpec", "StillingWellSeededRandom"],
            exclude: ["Golden"]),
        .testTarget(
            name: "TidegaugeMeasureTests",
            dependencies: [
                "CStillingWellPlatform", "CTidegaugeZlib", "TidegaugeDriver", "TidegaugeMeasure", "TidegaugeSpec",
                "StillingWellSeededRandom", "StillingWellTestThreads",
            ]),
        .testTarget(
            name: "TidegaugeStatisticsTests",
            dependencies: ["StillingWellBasis", "StillingWellSeededRandom", "TidegaugeStatistics"]),
        .testTarget(name: "TidegaugeProfilesTests", dependencies: ["TidegaugeProfiles", "StillingWellSeededRandom"]),
        .testTarget(
            name: "TidegaugeCompareTests",
            dependencies: [
                "TidegaugeCompare", "TidegaugeMeasure", "TidegaugeSpec", "StillingWellSeededRandom",
                "TidegaugeStatistics",
            ]),
        .testTarget(
            name: "TidegaugeReportTests",
            dependencies: [
                "TidegaugeCompare", "TidegaugeMeasure", "TidegaugeProfiles", "TidegaugeReport", "TidegaugeScenario",
                "TidegaugeSpec", "StillingWellSeededRandom", "TidegaugeTrial",
            ],
            exclude: ["Golden"]),
        .testTarget(
            name: "TidegaugeTests",
            dependencies: [
                "StillingWellBasis", "CTidegaugeFaults", "TidegaugeHarnessFixtures", "StillingWell", "TidegaugeMeasure",
                "TidegaugeRun",
                "TidegaugeScenario", "TidegaugeSpec", "StillingWellSeededRandom", "TidegaugeStatistics",
                "TidegaugeDriver", "TidegaugeTemplateDriver", "StillingWellTestThreads", "StillingWellSync",
                "TidegaugeTrialRunner", "TidegaugeTrial", "tidegauge-fixture",
            ] + drivers.map { .byName(name: $0.module) },
            plugins: ["TidegaugeLinkDrivers"]),
        // Fuzzes readers of untrusted input (`make fuzz`).
        .testTarget(
            name: "TidegaugeFuzzTests",
            dependencies: [
                "StillingWellBasis", "CStillingWellLMDB", "StillingWell", "StillingWellFixtures", "TidegaugeCompare",
                "TidegaugeDriver", "TidegaugeMeasure", "TidegaugeProcessDriver", "TidegaugeProfiles", "TidegaugeReport",
                "TidegaugeRun",
                "TidegaugeScenario", "TidegaugeSpec", "StillingWellSeededRandom",
                "StillingWellTestThreads",
                "TidegaugeTrial", "TidegaugeTrialRunner",
            ],
            exclude: ["Corpus"]),
        // Tests that read the sources.
        .testTarget(name: "TidegaugeStructureTests"),
        .testTarget(
            name: "TidegaugeCLITests",
            dependencies: [
                "StillingWell", "TidegaugeMeasure", "TidegaugeRun", "StillingWellTestThreads", "TidegaugeCLI",
                "tidegauge", "tidegauge-fixture",
                "tidegauge-peers",
            ]),

        // Threads for tests that wait.
        .target(name: "StillingWellTestThreads", path: "Tests/Fixtures/StillingWellTestThreads"),

        // Random numbers of property tests.
        .target(name: "StillingWellSeededRandom", path: "Tests/Fixtures/StillingWellSeededRandom"),

        // Stores that are right, and stores that misbehave on purpose, for the tests of the harness.
        .target(
            name: "TidegaugeHarnessFixtures", dependencies: ["TidegaugeDriver", "StillingWellSync"],
            path: "Tests/Fixtures/TidegaugeHarnessFixtures"),
        .executableTarget(
            name: "tidegauge-fixture",
            dependencies: ["TidegaugeHarnessFixtures", "TidegaugeCLI", "TidegaugeTrialRunner", argumentParser],
            path: "Tests/Fixtures/tidegauge-fixture"),
        // The driver to copy. Its source is in a package of its own, which `make external` builds and runs.
        .target(
            name: "TidegaugeTemplateDriver", dependencies: ["TidegaugeDriver"],
            path: "Tests/Fixtures/ExternalDriver/Sources/TemplateDriver"),

        // A process that has a store open, for the tests of many processes, and the models it shares with them.
        .target(
            name: "StillingWellFixtures", dependencies: ["StillingWell", "StillingWellSync"],
            path: "Tests/Fixtures/StillingWellFixtures"),
        .executableTarget(
            name: "stillingwell-fixture", dependencies: ["StillingWell", "StillingWellFixtures", "StillingWellSync"],
            path: "Tests/Fixtures/stillingwell-fixture"),

        // The torture program (`make stress powercut damage`). No test depends on it, because its recorder replaces functions of
        // the C library; `swift build --build-tests` builds it too.
        .target(name: "CStillingWellWriteRecorder", path: "Tests/Fixtures/CStillingWellWriteRecorder"),
        .target(
            name: "StillingWellTortureSupport", dependencies: ["StillingWell", argumentParser],
            path: "Tests/Torture/Support"),
        .target(
            name: "StillingWellPowerCut",
            dependencies: [
                "CStillingWellWriteRecorder", "StillingWell", "StillingWellFixtures",
                "StillingWellSeededRandom", "StillingWellTortureSupport", "StillingWellSync", argumentParser,
            ],
            path: "Tests/Torture/PowerCut"),
        .target(
            name: "StillingWellStress",
            dependencies: [
                "CStillingWellPlatform", "StillingWell", "StillingWellFixtures", "StillingWellSeededRandom",
                "StillingWellTortureSupport", "StillingWellSync", "TidegaugeHangs",
                argumentParser,
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Torture/Stress"),
        .target(
            name: "StillingWellDamage",
            dependencies: [
                "CStillingWellPlatform", "StillingWell", "StillingWellFixtures", "StillingWellSeededRandom",
                "StillingWellTortureSupport", argumentParser,
            ],
            path: "Tests/Torture/Damage"),
        .executableTarget(
            name: "stillingwell-torture",
            dependencies: ["StillingWellDamage", "StillingWellPowerCut", "StillingWellStress", argumentParser],
            path: "Tests/Torture/stillingwell-torture"),
    ],
    swiftLanguageModes: [.v6]
)

// Adds flags to targets. A name that no target has ends the manifest: flags that reach nothing would go unnoticed.
@MainActor func compile(_ names: [String], with flags: [String]) {
    for name in names {
        guard let target = package.targets.first(where: { $0.name == name }) else {
            fatalError("Package.swift: no target is called '\(name)'; correct the list of names")
        }
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(flags)]
    }
}

// Tests run these modules optimised, with their assertions (scripts of Tools set the variable). SwiftPM refuses to
// build a package that depends on one with such flags, so only builds of this package set it. Optimising a module takes
// four times its compilation: for TidegaugeSpec, TidegaugeTrialRunner, TidegaugeTrial and TidegaugeCompare that is
// longer than the tests gain.
if Context.environment["TIDEGAUGE_OPTIMIZE"] != nil {
    compile(
        [
            "StillingWellBasis", "StillingWellSync", "StillingWellTree", "StillingWell",
            "TidegaugeMeasure", "TidegaugeStatistics",
        ],
        with: ["-O", "-assert-config", "Debug"])
}

// These modules wait for trials and report them; they do none of the work that a trial measures. Optimising them takes
// a good part of the build and is worth a fraction of a second of a run (Tools/build.sh sets the variable).
if Context.environment["TIDEGAUGE_QUICK"] != nil {
    compile(["TidegaugeReport", "TidegaugeRun", "TidegaugeCLI"], with: ["-Onone", "-assert-config", "Release"])
}
