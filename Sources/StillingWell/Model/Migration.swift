// The interface of a migration block: tables, and rows that it enumerates, creates and deletes (MigrationRow.swift). It
// runs inside the transaction that opens the store. If it throws, the file stays unchanged. On the opening thread.

/// Changes a file to a higher schema version. Passed to `Store.Configuration.migration`; usable inside that block only.
///
///     configuration.migration = { migration in
///         if migration.oldVersion < 2 {
///             try migration.renameProperty(on: "Person", from: "mail", to: "email")
///             try migration.enumerate("Person") { old, new in
///                 new["name"] = "\(old["first"] as? String ?? "") \(old["last"] as? String ?? "")"
///                 new[link: "address"] = try migration.create("Address") { $0["city"] = old["city"] }
///             }
///         }
///     }
public final class Migration {
    /// The schema version of the file.
    public let oldVersion: UInt64
    /// The schema version of the configuration.
    public let newVersion: UInt64
    private let rows: MigrationRows
    private var change: SchemaChange { rows.change }

    private init(_ rows: MigrationRows) {
        self.rows = rows
        let change = rows.change
        newVersion = change.newVersion
        oldVersion = change.oldVersion
    }

    /// Returns a function that runs `block`, for the code that opens the file.
    static func running(
        _ block: @escaping @Sendable (Migration) throws -> Void
    ) -> @Sendable (MigrationRows) throws -> Void {
        { rows in
            let migration = Migration(rows)
            defer { rows.isOver = true }
            try block(migration)
            try migration.checkRows()
        }
    }

    /// Names of the file's tables before the migration.
    public var tables: [String] { change.old.tables.map(\.name) }

    /// Enumerates the rows of a table in the order in which they were added. `old` is the row before the migration.
    /// `new` is the row after it: properties of equal name and type keep their values, the others have their default. A
    /// second enumeration has the same `old`, and `new` as the first one left it. Rows added by the block are left out.
    /// O(rows); holds one row at a time.
    /// - Throws: what `body` throws; changes already made to that row are kept. `migrationMisuse` for unknown names and
    ///   types, for a table that has been deleted or replaced, and after the migration. `valueTooLong`, `diskFull`,
    ///   `mapFull`, `tooManyTables`, `damaged` or `storage`.
    public func enumerate(_ table: String, _ body: (_ old: MigrationRow, _ new: MigrationRow) throws -> Void) throws {
        try checkOpen()
        let before = try named(table, in: change.old)
        change.match(table)
        guard let after = change.schema.table(table), after.id == before.id else {
            throw misuse("'\(table)' has been deleted or replaced; go through it first")
        }
        change.noteEnumerated(table)
        try rows.forEachRow(before.id) { id, oldBytes, bytes in
            let old = MigrationRow(before, id, RowBuffer(oldBytes, rows.largeValues(isOld: true)), rows, isOld: true)
            let new = MigrationRow(
                after, id, change.row(bytes, of: after, rows.largeValues(isOld: false)), rows, isOld: false)
            let outcome = Result { try body(old, new) }
            try checkRows()
            // Also if the block catches the error: lists that were set are stored already.
            try rows.put(after, id, new.buffer)
            try outcome.get()
        }
    }

    /// Adds a row to the table of a model. Properties that `fill` does not set have their default. If `fill` throws,
    /// the row is not added. O(log n).
    /// - Returns: a reference, for links and lists.
    /// - Throws: what `fill` throws; `migrationMisuse` for a table without a model, for unknown names and types, and
    ///   after the migration; `valueTooLong`, `diskFull`, `mapFull`, `tooManyTables`, `damaged` or `storage`.
    @discardableResult
    public func create(
        _ table: String, _ fill: (_ new: MigrationRow) throws -> Void = { _ in }
    ) throws -> MigrationReference {
        try checkOpen()
        change.match(table)
        guard change.hasModel(table), let schema = change.schema.table(table) else {
            throw misuse("'\(table)' is none of the models, and gets no rows; add it to Store.Configuration.models")
        }
        change.noteEnumerated(table)
        let id = try rows.takeNumber(schema.id)
        let new = MigrationRow(schema, id, change.newRow(of: schema), rows, isOld: false)
        do {
            try fill(new)
        } catch {
            try rows.delete(table, id)
            throw error
        }
        try checkRows()
        try rows.put(schema, id, new.buffer)
        return new.reference
    }

    /// Deletes a row. Links to it become nil, and lists lose it. Does nothing if it is already deleted. O(log n). One
    /// scan of the rows that may link to deleted ones follows after the block.
    /// - Throws: `migrationMisuse` for a row of a table that has been deleted, after misuse of a row, and after the
    ///   migration; `diskFull`, `mapFull`, `tooManyTables`, `damaged` or `storage`.
    public func delete(_ row: MigrationReference) throws {
        try checkOpen()
        _ = try named(row.table, in: change.schema)
        try rows.delete(row.table, row.id)
    }

    /// Returns a row before the migration, such as the target of a link of `old`. O(log n).
    /// - Returns: nil for a row that the file did not have before the migration.
    /// - Throws: `migrationMisuse` after misuse of a row, and after the migration; `damaged` or `storage` if a row
    ///   cannot be read; an error of setting a list before, such as `diskFull`.
    public func read(_ row: MigrationReference) throws -> MigrationRow? {
        try checkOpen()
        guard let table = change.old.table(row.table), let bytes = try rows.old(table, row.id) else { return nil }
        return MigrationRow(table, row.id, RowBuffer(bytes, rows.largeValues(isOld: true)), rows, isOld: true)
    }

    /// Renames a property and keeps its values. Must precede enumerating the table and creating rows in it.
    /// - Throws: `migrationMisuse` if there is no such table or property, if the new name exists, if it is called too
    ///   late, or after misuse of a row; an error of reading or setting a list before, such as `diskFull`.
    public func renameProperty(on table: String, from: String, to: String) throws {
        try checkOpen()
        let stored = try named(table, in: change.schema)
        guard !change.isMatched(table) else {
            throw misuse("'\(table).\(from)' is renamed after its rows were gone through; rename it first")
        }
        guard let column = stored.columns.firstIndex(where: { $0.name == from && !$0.isGone }) else {
            throw misuse("'\(table)' has no property '\(from)'; it has \(named(stored.visibleNames))")
        }
        guard !stored.visibleNames.contains(to) else {
            throw misuse("'\(table)' has a property '\(to)' already; carry the values over in enumerate")
        }
        change.rename(column, of: table, to: to)
    }

    /// Deletes a table without a model, with its rows and lists. Links and lists of other classes to it are deleted
    /// too. O(rows).
    /// - Throws: `migrationMisuse` if there is no such table, if it has a model, if it holds the elements of a list,
    ///   after misuse of a row, or after the migration; `diskFull`, `mapFull`, `tooManyTables`, `damaged` or `storage`.
    public func deleteTable(_ table: String) throws {
        try checkOpen()
        let stored = try named(table, in: change.schema)
        guard !change.hasModel(table) else {
            throw misuse("'\(table)' is among the models; take it out of Store.Configuration.models first")
        }
        guard !change.schema.listNames.contains(table) else {
            throw misuse("'\(table)' has the elements of a list, and goes with the class that has the list")
        }
        for list in change.schema.elementTables(of: stored) { try rows.drop(list) }
        try rows.drop(stored)
    }

    private func checkOpen() throws(StoreError) {
        if rows.isOver { throw misuse("the block has ended that the migration was for; use it inside the block") }
        try checkRows()
    }

    private func checkRows() throws(StoreError) { if let failure = rows.failure { throw failure } }

    private func named(_ table: String, in schema: StoreSchema) throws(StoreError) -> TableSchema {
        guard let found = schema.table(table) else {
            throw misuse("the file has no table '\(table)'; it has \(named(tables))")
        }
        return found
    }

    private func misuse(_ reason: String) -> StoreError { .migrationMisuse(reason: reason) }

    private func named(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.sorted().map { "'\($0)'" }.joined(separator: ", ")
    }
}
