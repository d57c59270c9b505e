// What a migration block works with: rows by the names of their properties, as they were and as they will be. It runs
// inside the transaction that opens the store; if it throws, the file stays as it was. On the opening thread.

/// Changes a file to a higher schema version. Handed to `Store.Configuration.migration`; of use inside that block only.
///
///     configuration.migration = { migration in
///         if migration.oldVersion < 2 {
///             try migration.renameProperty(on: "Person", from: "mail", to: "email")
///             try migration.enumerate("Person") { old, new in
///                 new["name"] = "\(old["first"] as? String ?? "") \(old["last"] as? String ?? "")"
///             }
///         }
///     }
public final class Migration {
    /// The schema version of the file.
    public let oldVersion: UInt64
    /// The schema version of the configuration.
    public let newVersion: UInt64
    private let change: SchemaChange
    private let engine: MigrationEngine
    private var isOver = false
    /// What went wrong in a place that cannot throw.
    private var failure: StoreError?

    private init(_ change: SchemaChange, _ engine: MigrationEngine) {
        self.change = change
        self.engine = engine
        newVersion = change.newVersion
        oldVersion = change.oldVersion
    }

    /// A migration by `block`, as who opens the file calls it.
    static func running(
        _ block: @escaping @Sendable (Migration) throws -> Void
    ) -> @Sendable (SchemaChange, MigrationEngine) throws -> Void {
        { change, engine in
            let migration = Migration(change, engine)
            defer { migration.isOver = true }
            try block(migration)
            if let failure = migration.failure { throw failure }
        }
    }

    fileprivate func fail(_ error: StoreError) { if failure == nil { failure = error } }

    /// The tables of the file, as it was.
    public var tables: [String] { change.old.tables.map(\.name) }

    /// Goes through the rows of a table in the order in which they were added: `old` as it was, `new` as it will be,
    /// where properties of the same name and type have their values already, and others what they begin with. A further time, `old` is as it was all the
    /// same, and `new` as the last time left it. O(rows); holds one row at a time.
    /// - Throws: what `body` throws; `migrationMisuse` for names and types that do not exist.
    public func enumerate(_ table: String, _ body: (_ old: MigrationRow, _ new: MigrationRow) throws -> Void) throws {
        try checkOpen()
        let before = try named(table, in: change.old)
        change.match(table)
        guard let after = change.schema.table(table) else {
            throw misuse("'\(table)' has been deleted; go through it first")
        }
        change.noteEnumerated(table)
        try engine.forEachRow(before.id) { id, bytes in
            let oldBytes = try engine.old?.row(before.id, id) ?? bytes
            let old = MigrationRow(before, RowBuffer(oldBytes), isReadOnly: true)
            let new = MigrationRow(after, change.row(bytes, of: after), isReadOnly: false)
            try body(old, new)
            if let failure = old.failure ?? new.failure {
                fail(failure)
                throw failure
            }
            new.buffer.compact(columnCount: after.columns.count, outOfLine: after.outOfLine)
            try engine.put(after.id, id, new.buffer)
        }
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

    /// Deletes a table that no model has any more, with its rows. O(pages).
    /// - Throws: `migrationMisuse` if there is no such table, or a model has it.
    public func deleteTable(_ table: String) throws {
        try checkOpen()
        let stored = try named(table, in: change.schema)
        guard !change.hasModel(table) else {
            throw misuse("'\(table)' is among the models; take it out of Store.Configuration.models first")
        }
        for list in change.schema.listTables(of: stored) {
            try engine.drop(list)
            change.remove(list.name)
        }
        try engine.drop(stored)
        change.remove(table)
    }

    private func checkOpen() throws(StoreError) {
        if isOver { throw misuse("the block has ended that the migration was for; use it inside the block") }
        if let failure { throw failure }
    }

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

/// One row during a migration, by the names of its properties. Of use inside the block of `enumerate` only. Links and
/// lists stay as they are, and are not read here.
public final class MigrationRow {
    private let table: TableSchema
    fileprivate let buffer: RowBuffer
    private let isReadOnly: Bool
    fileprivate private(set) var failure: StoreError?

    fileprivate init(_ table: TableSchema, _ buffer: RowBuffer, isReadOnly: Bool) {
        self.table = table
        self.buffer = buffer
        self.isReadOnly = isReadOnly
    }

    /// The value of a property; nil where it is null. Setting one of the wrong name or type fails the migration.
    public subscript(property: String) -> (any StorableValue)? {
        get {
            guard let column = column(property) else { return nil }
            let schema = table.columns[column]
            guard !leadsToRows(schema) else { return failLink(schema) }
            return buffer.reader.value(column, schema).plain
        }
        set {
            guard let column = column(property) else { return }
            let schema = table.columns[column]
            guard !isReadOnly else {
                return fail("'\(table.name).\(property)' of the old row was set; set the new one")
            }
            guard !leadsToRows(schema) else { return _ = failLink(schema) }
            let value = newValue.flatMap { $0._columnValue == .null ? nil : $0 }
            guard let value else {
                guard schema.isOptional else { return fail("\(place(schema)) was set to nil; give it a value") }
                return buffer.setNull(column, isOutOfLine: schema.type.isOutOfLine)
            }
            guard type(of: value)._columnType == schema.type else {
                return fail("\(place(schema)) was set to a value of type \(type(of: value)); convert it")
            }
            value._write(buffer, column)
        }
    }

    private func column(_ name: String) -> Int? {
        if let column = table.columns.firstIndex(where: { $0.name == name && !$0.isGone }) { return column }
        let names = table.visibleNames.sorted().map { "'\($0)'" }.joined(separator: ", ")
        fail("'\(table.name)' has no property '\(name)' \(isReadOnly ? "in the file" : "now"); it has \(names)")
        return nil
    }

    private func leadsToRows(_ column: ColumnSchema) -> Bool { column.type == .link || column.type == .list }

    private func failLink(_ column: ColumnSchema) -> (any StorableValue)? {
        fail("\(place(column)) leads to other objects: that stays as it is, and changes in a write after the migration")
        return nil
    }

    private func place(_ column: ColumnSchema) -> String { "\(column.described) of '\(table.name)'" }

    private func fail(_ reason: String) { if failure == nil { failure = .migrationMisuse(reason: reason) } }
}
