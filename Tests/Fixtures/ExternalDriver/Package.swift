// swift-tools-version: 6.1
import PackageDescription

// A driver of one's own needs this much: a target with the driver, and a program of a few lines. Outside of this
// repository the first dependency is its URL and a version.
let package = Package(
    name: "my-tidegauge",
    dependencies: [
        .package(name: "tidegauge", path: "../../..")
    ],
    targets: [
        .target(name: "TemplateDriver", dependencies: [.product(name: "TidegaugeCLI", package: "tidegauge")]),
        .executableTarget(
            name: "my-tidegauge",
            dependencies: ["TemplateDriver", .product(name: "TidegaugeCLI", package: "tidegauge")]),
    ],
    swiftLanguageModes: [.v6]
)
