// What a migration block works with: tables and the rows it goes through, adds and deletes (MigrationRow). It runs
// inside the transaction that opens the store; if it throws, the file stays as it was. On the opening thread.

/// Changes a file to a higher schema version. Handed to `Store.Configuration.migration`; of use inside that block only.
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

    /// A migration by `block`, as who opens the file calls it.
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

    /// The tables of the file, as it was.
    public var tables: [String] { change.old.tables.map(\.name) }

    /// Goes through the rows of a table in the order in which they were added: `old` as it was, `new` as it will be,
    /// where properties of the same name and type have their values already, and others what they begin with. A further
    /// time, `old` is as it was all the same, and `new` as the last time left it. Rows that the block adds are left out.
    /// O(rows); holds one row at a time.
    /// - Throws: what `body` throws, with what it had set of that row; `migrationMisuse` for names and types that do not
    ///   exist.
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
            // Also where the block catches what was thrown: lists that were set are stored already.
            try rows.put(after, id, new.buffer)
            try outcome.get()
        }
    }

    /// Adds a row to the table of a model; `fill` sets properties that are not to begin with their defaults, and where it
    /// throws, the row is not added. O(log n).
    /// - Returns: what links and lists can lead to.
    /// - Throws: what `fill` throws; `migrationMisuse` for a table that is no model's, names and types that do not exist.
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

    /// Deletes a row, as one that is gone through; what leads to it leads nowhere then, and lists lose it. One that is gone
    /// already is left alone. O(log n), and once for all that are deleted O(rows that could lead there).
    /// - Throws: `migrationMisuse` for a row of a table that has been deleted.
    public func delete(_ row: MigrationReference) throws {
        try checkOpen()
        _ = try named(row.table, in: change.schema)
        try rows.delete(row.table, row.id)
    }

    /// A row as it was in the file, to be read: such as one that a link of `old` leads to. O(log n).
    /// - Returns: nil for one that the block has added.
    /// - Throws: `migrationMisuse` once the migration is over, `storage` where the row cannot be read.
    public func read(_ row: MigrationReference) throws -> MigrationRow? {
        try checkOpen()
        guard let table = change.old.table(row.table), let bytes = try rows.old(table, row.id) else { return nil }
        return MigrationRow(table, row.id, RowBuffer(bytes, rows.largeValues(isOld: true)), rows, isOld: true)
    }

    /// Keeps the values of a property under a new name. Before the table is gone through. O(1).
    /// - Throws: `migrationMisuse` if there is no such property, or one of the new name.
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

    /// Deletes a table that no model has any more, with its rows and lists. Links and lists of other classes that led to it
    /// are gone for good. O(pages).
    /// - Throws: `migrationMisuse` if there is no such table, if a model has it, or if it has the elements of a list.
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
