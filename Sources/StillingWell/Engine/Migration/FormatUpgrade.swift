// Formats of a store's file, and the steps that turn one of an older format into the current one. All steps run in the one
// transaction that opens the store: killed at any instant, the file is what it was. On the opening thread, alone.

struct FileFormats: Sendable {
    /// Changes what the file holds, and the schema, from one format to the next.
    typealias Step = @Sendable (MigrationEngine, inout StoreSchema) throws -> Void

    /// This library has no step yet: it reads one format.
    static let shipped = FileFormats(current: StoreSchema.currentFormat, steps: [:])

    let current: Int
    /// Steps by the format that each of them starts from.
    let steps: [Int: Step]

    /// The current format, and the older ones from which steps lead to it.
    var range: FormatRange {
        var oldest = current
        while steps[oldest - 1] != nil { oldest -= 1 }
        return FormatRange(oldest: oldest, current: current)
    }

    /// Upgrades the file.
    /// - Returns: the schema as it is in the current format.
    func upgrade(_ stored: StoreSchema, _ engine: MigrationEngine) throws -> StoreSchema {
        var schema = stored
        while let step = steps[schema.format], schema.format < current {
            try step(engine, &schema)
            schema.format += 1
        }
        return schema
    }
}
