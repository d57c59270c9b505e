// swift-tools-version: 6.1
import PackageDescription

// An application that needs only the store. Without traits, swift-log is its only further package. Its targets have
// names that targets of this package must not have, because SwiftPM refuses two targets of one name in a graph.
let plainNames = [
    "Basis", "CLMDB", "CSQLite", "CZlib", "Comparison", "Measure", "Profiles", "Report", "Runs",
    "Scenario", "Statistics", "Trials",
]

let package = Package(
    name: "store-alone",
    dependencies: [
        .package(name: "tidegauge", path: "../../..", traits: [])
    ],
    targets: [
        .executableTarget(
            name: "store-alone",
            dependencies: plainNames.map { .target(name: $0) } + [.product(name: "StillingWell", package: "tidegauge")])
    ] + plainNames.map { .target(name: $0) },
    swiftLanguageModes: [.v6]
)
