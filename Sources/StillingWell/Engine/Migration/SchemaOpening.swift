// Handles the schema when a store is opened. Additive changes are made without a new version. Others need a higher
// version, and a migration block if values have to be converted. All in the transaction that opens the tables.
import CStillingWellLMDB

struct SchemaOpening {
    let request: SchemaRequest
    let engine: MigrationEngine
    /// Whether this opening may change the store.
    let mayChange: Bool

    private var path: String { engine.storage.directory }
    /// Whether no other process has the store open.
    private var isAlone: Bool { engine.storage.page.wasAlone }

    /// Matches the stored schema with the models, and stores it again if it has changed.
    /// - Returns: the tables of the models and of their lists; nil if the store would have to be changed but must not.
    func open() throws -> [(model: ObjectIdentifier?, table: Table)]? {
        for model in request.models { try check(model) }
        let stored = try StoreSchema.read(engine.transaction, engine.storage.meta, path: path, request.formats.range)
        let isOfThisFormat = stored?.format == request.formats.current
        if !mayChange, !isOfThisFormat { return nil }
        try engine.openValues(mayMake: stored == nil)
        let new = StoreSchema(format: request.formats.current, version: request.version)
        let change = try SchemaChange(try stored.map(upgraded) ?? new, request)
        if mayChange {
            try migrate(change)
        } else {
            change.matchRest()
            if change.isAny { return nil }
        }
        if change.isDifferent || !isOfThisFormat {
            try checkForm(of: change.schema)
            try change.schema.write(engine.transaction, engine.storage.meta, path: path)
        }
        try engine.checkValues()
        let layouts = LayoutSet()
        return try request.models.flatMap { model in
            guard let schema = change.schema.table(model.name) else { throw StoreError.unknownModel(type: model.name) }
            let tables = [schema] + change.schema.listTables(of: schema)
            return try tables.enumerated().map { index, schema in
                let stored = change.old.tables.first { $0.id == schema.id }
                let table = try engine.open(
                    schema, TableLayout(index == 0 ? model : nil, schema, in: layouts), stored: stored)
                layouts.add(table.layout, schema.name)
                return (index == 0 ? model.model.id : nil, table)
            }
        }
    }

    /// Refuses a schema that could not be read again.
    private func checkForm(of schema: StoreSchema) throws(StoreError) {
        if schema.isPossible { return }
        let names = schema.impossibleTables.map { "'\($0.name)'" }.joined(separator: ", ")
        throw .cannotOpen(
            path: path,
            reason: """
                the models and the migration would make a schema that cannot be read again (\(names)), so nothing was changed; \
                rename these classes and properties, or migrate in several steps
                """)
    }

    /// Upgrades a file of an older format, in the transaction that opens it.
    private func upgraded(_ stored: StoreSchema) throws -> StoreSchema {
        if stored.format == request.formats.current { return stored }
        guard isAlone else {
            throw StoreError.cannotOpen(
                path: path,
                reason: """
                    its format \(stored.format) has to become \(request.formats.current), and another process has it open; \
                    end that process, then open the store again
                    """)
        }
        return try request.formats.upgrade(stored, engine)
    }

    private func migrate(_ change: SchemaChange) throws {
        let (old, new) = (change.oldVersion, request.version)
        guard old <= new else { throw StoreError.schemaTooNew(path: path, file: old, configured: new) }
        let rows = MigrationRows(change, engine)
        defer { rows.end() }
        if old < new {
            guard isAlone else { throw StoreError.migrationNeedsAll(path: path, file: old, configured: new) }
            try request.migration?(rows)
        }
        change.matchRest()
        try change.checkLimits()
        try checkDifferences(change)
        // A process that does not know an index, a link or a new property would not maintain it.
        if let reason = change.newConnections ?? change.newDefault, !isAlone {
            throw StoreError.cannotOpen(
                path: path,
                reason: """
                    \(reason), and another process has the store open, which would not keep it; end that process, then open \
                    the store again
                    """)
        }
        try rows.finish()
        let isFilled = try engine.fill(change)
        if old < new {
            for table in change.tablesWithOtherKeys { try engine.rebuildKeys(table) }
            for table in change.tablesWithOtherRows { try engine.dropIndexes(table) }
        }
        if old < new || isFilled { try engine.noteRewrite() }
    }

    /// Throws for differences that this opening is not allowed to change.
    private func checkDifferences(_ change: SchemaChange) throws {
        let isRaised = change.oldVersion < request.version
        let allowed: SchemaDifference.Need = isRaised ? (request.migration == nil ? .version : .block) : .nothing
        for (name, differences) in change.differences.sorted(by: { $0.key < $1.key }) {
            let refused = differences.filter { $0.need > allowed }
            guard let need = refused.map(\.need).max() else { continue }
            let remedy =
                switch (isRaised, need) {
                case (true, _): "give Store.Configuration a migration block"
                case (false, .block):
                    "declare it as it is stored, or raise schemaVersion above \(request.version) and give a migration block"
                case (false, _): "declare it as it is stored, or raise schemaVersion above \(request.version)"
                }
            throw StoreError.schemaMismatch(
                table: name, reason: "\(refused.map(\.text).joined(separator: "; ")): \(remedy)")
        }
    }

    private func check(_ model: ModelDeclaration) throws(StoreError) {
        let name = model.name
        guard !model.columns.isEmpty else {
            throw .invalidModel(type: name, reason: "it has no @Stored property; mark some")
        }
        guard model.primaryKeys.count < 2 else {
            let names = model.primaryKeys.map { "'\(model.columns[$0].name)'" }.joined(separator: " and ")
            throw .invalidModel(type: name, reason: "\(names) are each its primary key; mark one of them only")
        }
        if let key = model.primaryKey, model.columns[key].isOptional {
            throw .invalidModel(type: name, reason: "its primary key is optional; make it a plain type")
        }
        for (property, target) in zip(model.columns, model.targets) {
            guard let target, !request.models.contains(where: { $0.model.id == target.id }) else { continue }
            throw .invalidModel(
                type: name,
                reason: """
                    '\(property.name)' leads to \(target.name), which is no model of this store; add \(target.name) to \
                    Store.Configuration.models
                    """)
        }
    }
}

/// The schema while it is being changed. Used on the opening thread.
final class SchemaChange {
    let oldVersion: UInt64
    let newVersion: UInt64
    /// The schema in the file.
    let old: StoreSchema
    private(set) var schema: StoreSchema
    private(set) var differences: [String: [SchemaDifference]] = [:]
    /// Initial values of new properties in stored tables, by table number.
    private(set) var newColumns: [UInt32: NewColumns] = [:]
    /// Tables whose rows the migration has visited or changed.
    private var enumerated: Set<String> = []
    private var unmatched: [String: ModelDeclaration] = [:]
    private let models: [String: ModelDeclaration]

    init(_ stored: StoreSchema, _ request: SchemaRequest) throws(StoreError) {
        old = stored
        schema = stored
        schema.version = request.version
        oldVersion = stored.version ?? 0
        newVersion = request.version
        for model in request.models {
            guard unmatched.updateValue(model, forKey: model.name) == nil else {
                throw .invalidModel(type: model.name, reason: "two models have this name; rename one")
            }
        }
        models = unmatched
    }

    var isDifferent: Bool { schema.tables != old.tables || schema.version != old.version }

    /// Whether there is anything to change or refuse.
    var isAny: Bool { isDifferent || !newColumns.isEmpty || differences.values.contains { !$0.isEmpty } }

    /// Whether the table has its new form already.
    func isMatched(_ name: String) -> Bool { unmatched[name] == nil && schema.table(name) != nil }

    func hasModel(_ name: String) -> Bool { models[name] != nil }

    /// Gives the table its new form.
    func match(_ name: String) {
        guard let model = unmatched.removeValue(forKey: name) else { return }
        var hiddenNames: [String] = []
        if let index = schema.tables.firstIndex(where: { $0.name == name }) {
            let before = schema.tables[index]
            hiddenNames = before.columns.filter(\.isGone).map(\.name)
            let (table, found) = before.matched(with: model)
            schema.tables[index] = table
            differences[name] = found
            newColumns[table.id] = NewColumns(of: model, in: table, from: before.columns.count)
            for (old, new) in zip(before.columns, table.columns) where old.type == .list && old.name != new.name {
                renameList(of: name, from: old.name, to: new.name)
            }
        } else {
            let id = schema.takeTableID()
            schema.tables.append(TableSchema(id: id, model))
        }
        for (ordinal, element) in model.elements {
            let property = model.columns[ordinal].name
            let declared = ListTable.schema(name, property, element)
            matchList(declared, property, wasHidden: hiddenNames.contains(property), of: name)
        }
    }

    /// Gives the hidden table of a list its new form. A table whose element type has changed is renamed and replaced by
    /// a new one, because its columns have fixed places. A list that was hidden needs no higher version for that, like a
    /// hidden column.
    private func matchList(_ declaration: TableSchema, _ property: String, wasHidden: Bool, of owner: String) {
        var declared = declaration
        if let index = schema.tables.firstIndex(where: { $0.name == declared.name }) {
            let (old, new) = (schema.tables[index].columns[ListTable.value], declared.columns[ListTable.value])
            if old.type == new.type, old.target == new.target, old.isOptional == new.isOptional { return }
            if !wasHidden {
                let text = "the list '\(property)' holds \(old.described) in the file and \(new.described) in the model"
                differences[owner, default: []].append(SchemaDifference(need: .block, text: text))
            }
            putAside(index)
        }
        declared.id = schema.takeTableID()
        schema.tables.append(declared)
    }

    /// Gives a list table that no property uses any more a unique name.
    private func putAside(_ index: Int) {
        repeat {
            schema.tables[index].name += "#\(schema.tables[index].id)"
        } while schema.tables.count(where: { $0.name == schema.tables[index].name }) > 1
    }

    private func renameList(of table: String, from: String, to: String) {
        let (old, new) = (ListTable.name(table, from), ListTable.name(table, to))
        guard let index = schema.tables.firstIndex(where: { $0.name == old }) else { return }
        if let other = schema.tables.firstIndex(where: { $0.name == new }) { putAside(other) }
        schema.tables[index].name = new
    }

    /// Hides a column for good, and the table of its list.
    private func forget(_ column: Int, of table: Int) {
        let before = schema.tables[table].columns[column]
        schema.tables[table].forget(column)
        if before.type == .list {
            renameList(
                of: schema.tables[table].name, from: before.name, to: schema.tables[table].columns[column].name)
        }
    }

    /// Description of the first new index, link or list that other processes would not maintain, or nil.
    var newConnections: String? {
        for table in schema.tables where !old.tables.isEmpty {
            let before = old.tables.first { $0.id == table.id }
            for (column, declared) in table.columns.enumerated() where declared.isIndexed || declared.type == .list {
                let stored = before.flatMap { $0.columns.indices.contains(column) ? $0.columns[column] : nil }
                let isNew =
                    stored.map { declared.type == .list ? isNewList(declared, of: table) : !$0.isIndexed }
                    ?? (before != nil || declared.target != nil)
                if isNew { return "'\(table.name).\(declared.name)' is new, with a link or an index" }
            }
        }
        return nil
    }

    /// Whether the elements of a list get a table that the file does not have.
    private func isNewList(_ column: ColumnSchema, of table: TableSchema) -> Bool {
        guard let elements = schema.table(ListTable.name(table.name, column.name)) else { return false }
        return !old.tables.contains { $0.id == elements.id }
    }

    /// Description of a new property with a non-zero initial value, or nil.
    var newDefault: String? { newColumns.min { $0.key < $1.key }?.value.reason }

    /// Matches the remaining models in the order of names, so that tables get the same numbers in every run.
    func matchRest() { for name in unmatched.keys.sorted() { match(name) } }

    func checkLimits() throws(StoreError) {
        for table in schema.tables where table.columns.count > StoreSchema.maxColumns {
            let hidden = table.columns.count { $0.isGone }
            throw .invalidModel(
                type: table.name,
                reason: """
                    it would have \(table.columns.count) stored properties of at most \(StoreSchema.maxColumns), \
                    \(hidden) of them hidden; split it
                    """)
        }
    }

    /// A row with the table's current columns, to be changed.
    /// - Parameter source: the `LargeValueSource` of the row.
    func row(_ bytes: [UInt8], of table: TableSchema, _ source: UnsafeRawPointer?) -> RowBuffer {
        newColumns[table.id]?.filled(bytes, source) ?? RowBuffer(bytes, source, widenedTo: table)
    }

    /// Row of a new object.
    func newRow(of table: TableSchema) -> RowBuffer {
        let (row, made) = (RowBuffer(), RowBuffer())
        row.reset(columnCount: table.columns.count)
        models[table.name]?.makeRow(made)
        for (column, schema) in table.columns.enumerated() {
            let ordinal = models[table.name]?.columns.firstIndex { $0.name == schema.name }
            if let ordinal {
                row.set(column, from: made.reader, ordinal, isOutOfLine: schema.type.isOutOfLine)
            } else if schema.isOptional {
                row.setNull(column)
            }
        }
        return row
    }

    func noteEnumerated(_ name: String) { enumerated.insert(name) }

    /// Tables whose indexes have to be built again.
    var tablesWithOtherRows: [TableSchema] {
        schema.tables.filter { enumerated.contains($0.name) || !(differences[$0.name] ?? []).isEmpty }
    }

    /// Tables whose index of primary keys has to be built again.
    var tablesWithOtherKeys: [TableSchema] {
        schema.tables.filter { table in
            guard let before = old.tables.first(where: { $0.id == table.id }) else {
                return table.primaryKey != nil && enumerated.contains(table.name)
            }
            if before.primaryKey == nil, table.primaryKey == nil { return false }
            return before.primaryKey != table.primaryKey || enumerated.contains(table.name)
        }
    }

    func rename(_ column: Int, of table: String, to name: String) {
        guard let index = schema.tables.firstIndex(where: { $0.name == table }) else { return }
        let before = schema.tables[index].columns[column]
        // A hidden column with the new name gives it up first, as does the table of its list.
        for other in schema.tables[index].columns.indices
        where other != column && schema.tables[index].columns[other].name == name {
            forget(other, of: index)
        }
        if before.type == .list { renameList(of: table, from: before.name, to: name) }
        schema.tables[index].columns[column].name = name
    }

    /// Removes a table and hides the columns that refer to it: a later table with its name has other rows.
    func remove(_ name: String) {
        schema.tables.removeAll { $0.name == name }
        for index in schema.tables.indices {
            for column in schema.tables[index].columns.indices
            where schema.tables[index].columns[column].target == name {
                schema.tables[index].columns[column].target = nil
                // Columns of a list's table are identified by their places.
                if !schema.tables[index].isOfList { forget(column, of: index) }
            }
        }
    }
}

extension StoreSchema {
    func table(_ name: String) -> TableSchema? { tables.first { $0.name == name } }

    /// Names of the tables of all lists.
    var listNames: Set<String> {
        Set(
            tables.flatMap { table in
                table.columns.filter { $0.type == .list }.map { ListTable.name(table.name, $0.name) }
            })
    }

    /// Tables of all lists that a table has or had, for its deletion.
    func elementTables(of table: TableSchema) -> [TableSchema] {
        tables.filter { $0.isOfList && $0.columns[ListTable.owner].target == table.name }
    }

    /// Tables of a table's lists, including hidden lists, whose elements change with the objects they refer to.
    func listTables(of table: TableSchema) -> [TableSchema] {
        table.columns.filter { $0.type == .list }.compactMap { self.table(ListTable.name(table.name, $0.name)) }
    }
}
