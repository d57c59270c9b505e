// swift-tools-version: 6.1
import PackageDescription

let harness = Target.Dependency.product(name: "TidegaugeCLI", package: "tidegauge")

// A driver of one's own needs this much: a target with the driver, and a program of a few lines. Outside of this
// repository the first dependency is its URL and a version. Who wants no other engine to compare with leaves out
// `side-by-side` and gives the dependency `traits: ["Harness"]`: GRDB is not even fetched then.
let package = Package(
    name: "my-tidegauge",
    dependencies: [
        .package(name: "tidegauge", path: "../../..")
    ],
    targets: [
        .target(name: "TemplateDriver", dependencies: [harness]),
        .executableTarget(name: "my-tidegauge", dependencies: ["TemplateDriver", harness]),
        .executableTarget(
            name: "side-by-side",
            dependencies: [
                "TemplateDriver", harness,
                .product(name: "TidegaugeGRDBDriver", package: "tidegauge"),
                .product(name: "TidegaugeStillingWellDriver", package: "tidegauge"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
