// What the file knows about its tables, kept as JSON in the `meta` table, and how it is brought together with the
// models a program opens it with. Properties added at the end need nothing; anything else is refused.
import CLMDB
import Foundation

struct ColumnSchema: Codable, Equatable {
    var name: String
    var type: ColumnType
    var isOptional: Bool
    /// The table that a link, or a list of links, leads to.
    var target: String?
    /// Whether the column has an index; missing in files that were written before there were any.
    private var indexed: Bool?

    init(name: String, type: ColumnType, isOptional: Bool, target: String? = nil, isIndexed: Bool = false) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.target = target
        self.isIndexed = isIndexed
    }

    var isIndexed: Bool {
        get { indexed ?? false }
        set { indexed = newValue ? true : nil }
    }

    /// Whether a declared column reads what this stored one holds. An index is no part of that.
    fileprivate func holds(_ declared: ColumnSchema) -> Bool {
        name == declared.name && type == declared.type && isOptional == declared.isOptional
            && target == declared.target
    }
}

struct TableSchema: Codable, Equatable, Sendable {
    /// The table's number in the change log; never reused.
    var id: UInt32
    var name: String
    var columns: [ColumnSchema]
    var primaryKey: Int?
}

struct StoreSchema: Codable {
    static let currentFormat = 1
    /// A change set says which columns changed in 64 bits.
    static let maxColumns = 64
    private static let key = "schema"

    var format = StoreSchema.currentFormat
    var tables: [TableSchema] = []

    /// Reads the stored schema, adds what the models add, and stores it again if that changed it.
    static func reconcile(
        _ transaction: LMDBTransaction, _ meta: MDB_dbi, with models: [StoredObject.Type], path: String
    ) throws -> [(StoredObject.Type?, ModelLayout, TableSchema)] {
        var schema = try read(transaction, meta, path: path) ?? StoreSchema()
        let before = schema.tables
        var opened: [(StoredObject.Type?, ModelLayout, TableSchema)] = []
        for model in models {
            let layout = ModelLayout.of(model)
            try checkTargets(layout, models)
            opened.append((model, layout, try schema.adopt(layout)))
            for property in layout.properties {
                guard let element = property.wrapper.element else { continue }
                let elements = ListTable.layout(layout.typeName, property.name, element)
                opened.append((nil, elements, try schema.adopt(elements, owner: layout.typeName)))
            }
        }
        if schema.tables != before { try schema.write(transaction, meta, path: path) }
        return opened
    }

    /// Every link must lead to a model of the store.
    private static func checkTargets(_ layout: ModelLayout, _ models: [StoredObject.Type]) throws {
        for property in layout.properties {
            guard let target = property.target, !models.contains(where: { $0 == target }) else { continue }
            throw StoreError.invalidModel(
                type: layout.typeName,
                reason: "'\(property.name)' leads to \(target), which is no model of this store; add \(target) to "
                    + "Store.Configuration.models")
        }
    }

    /// - Parameter owner: the table whose list the rows are elements of.
    private mutating func adopt(_ layout: ModelLayout, owner: String? = nil) throws -> TableSchema {
        let name = layout.typeName
        guard !layout.properties.isEmpty else {
            throw StoreError.invalidModel(type: name, reason: "it has no @Stored property; mark some")
        }
        guard layout.properties.count <= Self.maxColumns else {
            throw StoreError.invalidModel(
                type: name,
                reason: "it has \(layout.properties.count) @Stored properties of at most \(Self.maxColumns); split it")
        }
        if let key = layout.primaryKey, layout.properties[key].isOptional {
            throw StoreError.invalidModel(type: name, reason: "its primary key is optional; make it a plain type")
        }
        var columns = layout.properties.enumerated().map { ordinal, property in
            ColumnSchema(
                name: property.name, type: property.type, isOptional: property.isOptional,
                target: property.target.map { "\($0)" }, isIndexed: layout.indexed.contains(ordinal))
        }
        if let owner { columns[ListTable.owner].target = owner }
        guard let index = tables.firstIndex(where: { $0.name == name }) else {
            let table = TableSchema(
                id: UInt32(tables.count + 1), name: name, columns: columns, primaryKey: layout.primaryKey)
            tables.append(table)
            return table
        }
        var table = tables[index]
        for (stored, declared) in zip(table.columns, columns) where !stored.holds(declared) {
            throw StoreError.schemaMismatch(
                table: name,
                reason: """
                    the file has \(stored.described) where the model declares \(declared.described); put stored \
                    properties back in their order and type, and add new ones at the end
                    """)
        }
        guard columns.count >= table.columns.count else {
            throw StoreError.schemaMismatch(
                table: name, reason: "the model lacks \(table.columns[columns.count].described); declare it again")
        }
        guard table.primaryKey == layout.primaryKey else {
            throw StoreError.schemaMismatch(table: name, reason: "the primary key differs; keep the stored one")
        }
        // An index stays: a program that does not ask for it keeps it true all the same.
        for (ordinal, stored) in table.columns.enumerated() where stored.isIndexed { columns[ordinal].isIndexed = true }
        table.columns = columns
        tables[index] = table
        return table
    }

    private static func read(_ transaction: LMDBTransaction, _ meta: MDB_dbi, path: String) throws -> StoreSchema? {
        struct Format: Decodable { var format: Int }
        guard let bytes = key.utf8Bytes({ LMDB.get(transaction, meta, key: $0) }) else { return nil }
        let data = Data(bytes)
        do {
            let format = try JSONDecoder().decode(Format.self, from: data).format
            guard format <= currentFormat else {
                throw StoreError.cannotOpen(
                    path: path,
                    reason: "its format \(format) is newer than this library's \(currentFormat); update the library")
            }
            return try JSONDecoder().decode(StoreSchema.self, from: data)
        } catch let error as DecodingError {
            throw StoreError.cannotOpen(path: path, reason: "its schema cannot be read (\(error)); restore a backup")
        }
    }

    private func write(_ transaction: LMDBTransaction, _ meta: MDB_dbi, path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(self)
        let code = data.withUnsafeBytes { bytes in
            Self.key.utf8Bytes { key in
                var key = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
                var value = MDB_val(
                    mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
                return mdb_put(transaction, meta, &key, &value, 0)
            }
        }
        try LMDB.check(code, "store schema", path: path)
    }
}

extension ColumnSchema {
    fileprivate var described: String {
        let target = target.map { " to \($0)" } ?? ""
        return "'\(name)' (\(isOptional && type != .link ? "optional " : "")\(type.rawValue)\(target))"
    }
}

extension String {
    fileprivate func utf8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var copy = self
        return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
