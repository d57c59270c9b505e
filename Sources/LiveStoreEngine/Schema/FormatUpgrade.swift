// What a file of format 2 has to go through to be one of format 3: rows and keys are written again with their checksums, the
// log is emptied but for its last version, and indexes are made anew when their tables are opened. All of it within the one
// transaction that opens the store: killed at any instant, the file is what it was. On the opening thread, alone.
import CLMDB

extension MigrationEngine {
    /// Rewrites what the file has of one table. O(bytes of it).
    func upgrade(_ table: TableSchema) throws {
        try forEachRow(table.id, isSealed: false) { id, bytes in
            guard bytes.withUnsafeBytes({ RowReader.isReadable($0, table) }) else {
                throw storage.error(.damagedRow(table.id, id), "upgrade")
            }
            try put(table.id, id, RowBuffer(bytes))
        }
        if table.primaryKey != nil { try rebuildKeys(table) }
        try dropIndexes(table)
    }

    /// Keeps of the log the number of the last version: who follows it begins with the store's opening.
    func upgradeLog() throws(StoreError) {
        let last = try storage.reading("read log") { () throws(EngineFailure) in
            try LMDB.lastID(transaction, storage.log)
        }
        guard let last else { return }
        try storage.check(mdb_drop(transaction, storage.log, 0), "empty log")
        try storage.check(ChangeLog.append([], last, transaction, storage.log), "store log")
    }
}
