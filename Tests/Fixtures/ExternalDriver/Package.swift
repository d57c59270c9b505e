// swift-tools-version: 6.1
import PackageDescription

let harness = Target.Dependency.product(name: "TidegaugeCLI", package: "tidegauge")

// The whole package of a driver: a target with the driver, and two programs of a few lines. Outside of this repository
// the dependency is a URL and a version. To measure without other engines, remove `side-by-side` and give the
// dependency `traits: ["Harness"]`. Then GRDB is not fetched.
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
