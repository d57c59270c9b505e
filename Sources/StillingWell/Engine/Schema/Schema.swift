// The stored schema: the file's tables as JSON in the `meta` table. See SchemaMatching and SchemaOpening for models.
import CStillingWellEngine
import CStillingWellLMDB
import Foundation
import StillingWellBasis

struct ColumnSchema: Codable, Equatable {
    var name: String
    var type: ColumnType
    var isOptional: Bool
    /// True if the model does not have the column any more. Otherwise absent.
    var isHidden: Bool?
    /// Table that a link, or a list of links, leads to.
    var target: String?
    /// True if the column has an index. Otherwise absent.
    private var indexed: Bool?

    init(name: String, type: ColumnType, isOptional: Bool, target: String? = nil, isIndexed: Bool = false) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.target = target
        self.isIndexed = isIndexed
    }

    var isGone: Bool { isHidden == true }

    var isIndexed: Bool {
        get { indexed ?? false }
        set { indexed = newValue ? true : nil }
    }
}

struct TableSchema: Codable, Equatable, Sendable {
    /// Number of the table, never reused.
    var id: UInt32
    var name: String
    /// Columns in the order in which they were first declared, which is their order in rows.
    var columns: [ColumnSchema]
    var primaryKey: Int?

    var visibleNames: [String] { columns.filter { !$0.isGone }.map(\.name) }
    /// Columns whose bytes are stored behind the slots.
    var outOfLine: [Int] { columns.indices.filter { columns[$0].type.isOutOfLine } }
    /// Columns whose large values are in their own table. Not the position of list elements, which is compared.
    var largeColumns: [Int] {
        let isOfList = columns.map(\.name).starts(with: ListTable.columnNames.dropLast())
        return columns.indices.filter { column in
            [.string, .data].contains(columns[column].type) && !(isOfList && column == ListTable.position)
        }
    }
}

/// File formats that can be opened. Format 5 has checksums, list orders, and a table of large values.
struct FormatRange {
    static let shipped = FormatRange(oldest: StoreSchema.currentFormat, current: StoreSchema.currentFormat)

    let oldest: Int
    let current: Int

    /// Throws `cannotOpen` if a file of this format can be neither read nor upgraded.
    func check(_ format: Int, path: String) throws(StoreError) {
        if format > current {
            throw .cannotOpen(
                path: path,
                reason: "its format \(format) is newer than this library's \(current); update the library")
        }
        if format < oldest {
            throw .cannotOpen(
                path: path,
                reason: """
                    its format \(format) is older than \(oldest), the oldest that this library reads; open it once with the library \
                    of commit 0f28f9de, which turns formats 2 to 4 into format 5
                    """)
        }
    }
}

struct StoreSchema: Codable {
    static let currentFormat = 5
    /// Maximum number of columns of a table: rows and change sets have one bit per column in 64 bits.
    static let maxColumns = 64
    private static var key: UnsafeRawBufferPointer {
        let name: StaticString = "schema"
        return UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }

    /// Key of the schema's checksum in `meta`.
    static let sumKey = "schema.sum"

    static func sum(of data: Data) -> [UInt8] {
        let sum = data.withUnsafeBytes { Checksum.key($0, 0, nil) }
        return withUnsafeBytes(of: sum.littleEndian) { Array($0) }
    }

    private static func withSumKey<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var name = sumKey
        return name.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    var format = StoreSchema.currentFormat
    /// Version of the program's models.
    var version: UInt64?
    var tables: [TableSchema] = []
    /// Number of the next new table. If nil, it is the one after the highest in use.
    var nextTable: UInt32?

    /// Takes the number of a new table.
    mutating func takeTableID() -> UInt32 {
        let id = nextTable ?? (tables.map(\.id).max() ?? 0) + 1
        nextTable = id + 1
        return id
    }

    static func read(
        _ transaction: LMDBTransaction, _ meta: MDB_dbi, path: String, _ formats: FormatRange = .shipped
    ) throws -> StoreSchema? {
        let stored = try LMDB.reading("read schema", path: path) { () throws(EngineFailure) in
            try LMDB.get(transaction, meta, key: key).map { Data($0) }
        }
        guard let data = stored else { return nil }
        let sum = try LMDB.reading("read schema", path: path) { () throws(EngineFailure) in
            try Self.withSumKey { key in
                Swift.Result { () throws(EngineFailure) in try LMDB.get(transaction, meta, key: key).map { Array($0) } }
            }.get()
        }
        // Stores made before the checksum was introduced have none.
        if let sum, sum != Self.sum(of: data) {
            throw StoreError.cannotOpen(
                path: path, reason: "its schema is not what was stored; restore a backup, or salvage it")
        }
        let schema: StoreSchema
        do throws(JSONScanner.Problem) {
            schema = try decode(data)
        } catch {
            if let format = try? data.withUnsafeBytes({ try Self.format(of: $0) }) {
                try formats.check(format, path: path)
            }
            throw StoreError.cannotOpen(path: path, reason: "its schema cannot be read (\(error)); restore a backup")
        }
        try formats.check(schema.format, path: path)
        guard schema.isPossible else {
            throw StoreError.cannotOpen(
                path: path, reason: "its schema is none that this library writes; restore a backup, or salvage it")
        }
        return schema
    }

    func write(_ transaction: LMDBTransaction, _ meta: MDB_dbi, path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(self)
        let code = data.withUnsafeBytes { bytes in
            var (key, value) = (MDB_val(Self.key), MDB_val(bytes))
            return engine_put(transaction, meta, &key, &value, 0)
        }
        try LMDB.check(code, "store schema", path: path)
        let stored = Self.sum(of: data).withUnsafeBytes { sum in
            Self.withSumKey { key in
                var (key, value) = (MDB_val(key), MDB_val(sum))
                return engine_put(transaction, meta, &key, &value, 0)
            }
        }
        try LMDB.check(stored, "store schema", path: path)
    }
}
