// A stored table as the open store has it. Constant once the store is open; any thread.
import CLMDB

/// A stored table: its schema and the handles of its rows and of its primary-key index.
///
/// Unchecked because of `links`.
package final class Table: @unchecked Sendable {
    package let schema: TableSchema
    package let layout: TableLayout
    package let rows: MDB_dbi
    let primaryIndex: MDB_dbi?
    /// What the engine calls both.
    let (rowsName, keysName): ([UInt8], [UInt8])
    /// Whether the keys are numbers.
    let hasNumberKeys: Bool
    /// The same as an index in the order of its values, which only numbers are in.
    private let keyIndex: ColumnIndex?
    /// Indexes, and what leads to and from other tables; nil for a table that has nothing of it. Set while the store is
    /// opened, and constant from then on: no access needs a check.
    @exclusivity(unchecked) package internal(set) var links: TableLinks?

    package let id: UInt32

    package init(schema: TableSchema, layout: TableLayout, rows: MDB_dbi, primaryIndex: MDB_dbi?) {
        self.schema = schema
        self.layout = layout
        self.rows = rows
        self.primaryIndex = primaryIndex
        id = schema.id
        rowsName = Array(EngineName.rows(id).utf8)
        keysName = Array(EngineName.keys(id).utf8)
        hasNumberKeys = schema.primaryKey.map { !schema.columns[$0].type.isOutOfLine } ?? false
        keyIndex = primaryIndex.flatMap { handle in
            guard let column = schema.primaryKey, schema.columns[column].type == .int else { return nil }
            return ColumnIndex(
                table: schema.id, column: column, type: .int, isOptional: false, isUnique: true, handle: handle)
        }
    }

    /// What finds rows by ranges of a column.
    func index(_ column: Int) -> ColumnIndex? {
        if let keyIndex, keyIndex.column == column { return keyIndex }
        return links?.index(column)
    }

    func rowCount(_ transaction: LMDBTransaction) throws(EngineFailure) -> Int { try LMDB.count(transaction, rows) }
}
