// The schema that a program asks for when it opens a store.

/// What a program says about its models when it opens a store.
struct SchemaRequest: Sendable {
    var models: [ModelDeclaration]
    var version: UInt64 = 0
    /// Called where the file has a lower version, with what it may change.
    var migration: (@Sendable (MigrationRows) throws -> Void)?
    var formats = FileFormats.shipped

    init(
        models: [ModelDeclaration], version: UInt64 = 0,
        migration: (@Sendable (MigrationRows) throws -> Void)? = nil
    ) {
        self.models = models
        self.version = version
        self.migration = migration
    }

    /// How many tables of the engine's its models may need: for rows and keys, for each property's index, and for each list's
    /// elements, their order and what finds them; and one each for the log, the schema and large values.
    var mostTables: Int { models.reduce(3) { $0 + 2 + $1.columns.count + 3 * $1.elements.count } }
}
