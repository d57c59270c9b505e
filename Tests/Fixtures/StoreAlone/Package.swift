// swift-tools-version: 6.1
import PackageDescription

// An application that wants the store and nothing else: without traits, swift-log is all that comes with it.
let package = Package(
    name: "store-alone",
    dependencies: [
        .package(name: "tidegauge", path: "../../..", traits: [])
    ],
    targets: [
        .executableTarget(
            name: "store-alone", dependencies: [.product(name: "LiveStore", package: "tidegauge")])
    ],
    swiftLanguageModes: [.v6]
)
