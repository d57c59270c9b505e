// What happens to the schema when a store is opened: additive changes by themselves; others with a higher version, and
// where values have to be carried over, with a migration block. All of it in the one transaction that opens the tables.
import CLMDB

/// What a program says about its models when it opens a store.
struct SchemaRequest: Sendable {
    var models: [StoredObject.Type]
    var version: UInt64 = 0
    var migration: (@Sendable (Migration) throws -> Void)?
}

struct SchemaOpening {
    private let request: SchemaRequest
    private let engine: MigrationEngine
    private let path: String
    /// Whether no other process has the store open.
    private let isAlone: Bool

    init(_ request: SchemaRequest, _ engine: MigrationEngine, isAlone: Bool, path: String) {
        self.request = request
        self.engine = engine
        self.isAlone = isAlone
        self.path = path
    }

    /// Brings the stored schema together with the models, and stores it again if that changed it.
    /// - Returns: each model with its table.
    func open() throws -> [(StoredObject.Type, Table)] {
        for model in request.models { try Self.check(ModelLayout.of(model)) }
        let stored = try StoreSchema.read(engine.transaction, engine.meta, path: path)
        let change = try SchemaChange(stored ?? StoreSchema(version: request.version), request)
        try migrate(change)
        if change.isDifferent || stored == nil { try change.schema.write(engine.transaction, engine.meta, path: path) }
        return try request.models.map { model in
            let layout = ModelLayout.of(model)
            guard let schema = change.schema.table(layout.typeName) else {
                throw StoreError.unknownModel(type: "\(model)")
            }
            return (model, try engine.open(schema, TableLayout(layout, schema)))
        }
    }

    private func migrate(_ change: SchemaChange) throws {
        let (old, new) = (change.oldVersion, request.version)
        guard old <= new else { throw StoreError.schemaTooNew(path: path, file: old, configured: new) }
        if old < new {
            guard isAlone else { throw StoreError.migrationNeedsAll(path: path, file: old, configured: new) }
            if let block = request.migration {
                let migration = Migration(change, engine, newVersion: new)
                defer { migration.end() }
                try block(migration)
                if let failure = migration.failure { throw failure }
            }
        }
        change.matchRest()
        try change.checkLimits()
        try checkDifferences(change)
        if old < new {
            for table in change.tablesWithOtherKeys { try engine.rebuildKeys(table) }
            try engine.noteRewrite()
        }
    }

    /// Refuses what this opening is not allowed to change.
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

    private static func check(_ layout: ModelLayout) throws(StoreError) {
        let name = layout.typeName
        guard !layout.properties.isEmpty else {
            throw .invalidModel(type: name, reason: "it has no @Stored property; mark some")
        }
        if let key = layout.primaryKey, layout.properties[key].isOptional {
            throw .invalidModel(type: name, reason: "its primary key is optional; make it a plain type")
        }
    }
}

/// The schema while it is being changed. On the opening thread.
final class SchemaChange {
    let oldVersion: UInt64
    /// As it was in the file.
    let old: StoreSchema
    private(set) var schema: StoreSchema
    private(set) var differences: [String: [SchemaDifference]] = [:]
    /// Tables whose rows were gone through.
    private var enumerated: Set<String> = []
    private var unmatched: [String: ModelLayout] = [:]
    private let models: Set<String>

    init(_ stored: StoreSchema, _ request: SchemaRequest) throws(StoreError) {
        old = stored
        schema = stored
        schema.format = StoreSchema.currentFormat
        schema.version = request.version
        oldVersion = stored.version ?? 0
        models = Set(request.models.map { ModelLayout.of($0).typeName })
        for model in request.models {
            let layout = ModelLayout.of(model)
            guard unmatched.updateValue(layout, forKey: layout.typeName) == nil else {
                throw .invalidModel(type: layout.typeName, reason: "two models have this name; rename one")
            }
        }
    }

    var isDifferent: Bool { schema.tables != old.tables || schema.version != old.version }

    /// Whether the table has its new form already.
    func isMatched(_ name: String) -> Bool { unmatched[name] == nil && schema.table(name) != nil }

    func hasModel(_ name: String) -> Bool { models.contains(name) }

    /// Gives the table its new form.
    func match(_ name: String) {
        guard let layout = unmatched.removeValue(forKey: name) else { return }
        if let index = schema.tables.firstIndex(where: { $0.name == name }) {
            let (table, found) = schema.tables[index].matched(with: layout)
            schema.tables[index] = table
            differences[name] = found
        } else {
            let id = schema.takeTableID()
            schema.tables.append(TableSchema(id: id, layout))
        }
    }

    /// In the order of names, so that tables get the same numbers in every run.
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

    func noteEnumerated(_ name: String) { enumerated.insert(name) }

    /// Tables whose index of primary keys may not fit any more.
    var tablesWithOtherKeys: [TableSchema] {
        schema.tables.filter { table in
            guard let before = old.tables.first(where: { $0.id == table.id }) else { return false }
            if before.primaryKey == nil, table.primaryKey == nil { return false }
            return before.primaryKey != table.primaryKey || enumerated.contains(table.name)
        }
    }

    func rename(_ column: Int, of table: String, to name: String) {
        guard let index = schema.tables.firstIndex(where: { $0.name == table }) else { return }
        schema.tables[index].columns[column].name = name
        // A hidden column of the new name gives it up.
        for other in schema.tables[index].columns.indices
        where other != column && schema.tables[index].columns[other].name == name {
            schema.tables[index].columns[other].name = "\(name)#\(other)"
        }
    }

    func remove(_ name: String) { schema.tables.removeAll { $0.name == name } }
}

extension StoreSchema {
    func table(_ name: String) -> TableSchema? { tables.first { $0.name == name } }
}
