// The schema that a program requests when it opens a store.

struct SchemaRequest: Sendable {
    var models: [ModelDeclaration]
    var version: UInt64 = 0
    /// Migration block, called if the file has a lower version.
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

    /// Maximum number of LMDB tables for the models: rows and keys, an index per property, and for each list its
    /// elements, their order and an index. One each for the log, the schema and large values.
    var mostTables: Int { models.reduce(3) { $0 + 2 + $1.columns.count + 3 * $1.elements.count } }
}
