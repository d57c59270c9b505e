// The drivers of this package by product, so that a program knows drivers that it was built without and that embedded
// scenarios may name. Read from the embedded `drivers.txt` of each folder of `Sources/Drivers`.

struct ShippedDrivers {
    /// Library product for programs of other packages.
    let product: String
    /// Program of this package that contains them.
    let program: String
    let names: [String]

    static let all = EmbeddedDrivers.texts.sorted { $0.key < $1.key }.map {
        ShippedDrivers(path: $0.key, text: $0.value)
    }

    /// - Parameters:
    ///   - path: `Sources/Drivers/FOLDER/drivers.txt`.
    ///   - text: a line `program: NAME`, then a line `DRIVER: ABILITIES` for each driver.
    private init(path: String, text: String) {
        let rows = text.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1).map(String.init) }
        product = "Tidegauge_Driver".replacing("_", with: path.split(separator: "/").dropLast().last ?? "")
        program = rows.first?.last?.trimmingPrefix(" ").description ?? ""
        names = rows.dropFirst().compactMap(\.first)
    }

    /// Returns why a program lacks the driver and which one has it, or nil for a driver that is not of this package.
    static func remedy(_ name: String) -> String? {
        all.first { $0.names.contains(name) }.map {
            """
            this build leaves out driver \(name): build it with `swift build -c release --product \($0.program)` (in a program of \
            your own list product \($0.product))
            """
        }
    }
}
