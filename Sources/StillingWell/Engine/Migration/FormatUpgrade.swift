// Formats of a store's file, and the steps from an older format to the current one. All steps run in the transaction
// that opens the store, so a killed process leaves the file as it was. Used on the opening thread only.

struct FileFormats: Sendable {
    /// Changes what the file holds, and the schema, from one format to the next.
    typealias Step = @Sendable (MigrationEngine, inout StoreSchema) throws -> Void

    /// Formats of this library. It has no steps: it reads one format.
    static let shipped = FileFormats(current: StoreSchema.currentFormat, steps: [:])

    let current: Int
    /// Steps by the format that each starts from.
    let steps: [Int: Step]

    /// The current format, and the older ones that steps can upgrade.
    var range: FormatRange {
        var oldest = current
        while steps[oldest - 1] != nil { oldest -= 1 }
        return FormatRange(oldest: oldest, current: current)
    }

    /// Upgrades the file.
    /// - Returns: the schema in the current format.
    func upgrade(_ stored: StoreSchema, _ engine: MigrationEngine) throws -> StoreSchema {
        var schema = stored
        while let step = steps[schema.format], schema.format < current {
            try step(engine, &schema)
            schema.format += 1
        }
        return schema
    }
}
