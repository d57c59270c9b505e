// Objects by their primary keys, as a write transaction sees them. A failure to read is kept and makes the commit fail.
import CStillingWellLMDB

extension WriteTransaction {
    func find(_ table: Table, primaryKey: ColumnValue) -> ObjectID? {
        guard let index = table.primaryIndex else { return nil }
        return PrimaryKey.withBytes(of: primaryKey) { find(table, $0, index) }
    }

    /// The object that has the primary key in a column of another row.
    func find(_ table: Table, primaryKeyOf row: RowReader, _ column: Int) -> ObjectID? {
        guard let index = table.primaryIndex else { return nil }
        return PrimaryKey.withBytes(of: row, column, table.schema.columns[column].type) { bytes in
            bytes.count > PrimaryKey.maxBytes ? nil : find(table, bytes, index)
        }
    }

    private func find(_ table: Table, _ key: UnsafeRawBufferPointer, _ index: MDB_dbi) -> ObjectID? {
        do throws(StoreError) {
            return try storage.reading("find key") { () throws(EngineFailure) in
                try table.find(key, index, transaction)
            }
        } catch {
            fail(error)
            return nil
        }
    }
}
