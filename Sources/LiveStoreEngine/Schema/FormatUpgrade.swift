// What a file of an older format has to go through. From 2 to 3: rows and keys are written again with their checksums, the log
// is emptied but for its last version, and indexes are made anew when their tables are opened. From 3 to 4: the indexes of the
// objects that have lists go, and the orders of lists are made when their tables are opened. From 4 to 5: nothing but the table of large
// values, which is made when it is opened. All of it within the one
// transaction that opens the store: killed at any instant, the file is what it was. On the opening thread, alone.
import CEngine
import CLMDB

extension MigrationEngine {
    func upgrade(_ stored: StoreSchema) throws {
        if stored.format < StoreSchema.sealedFormat {
            for table in stored.tables { try seal(table) }
            try upgradeLog()
        } else if stored.format < StoreSchema.orderedFormat {
            let lists = stored.listNames
            for table in stored.tables where lists.contains(table.name) { try dropIndex(table, ListTable.owner) }
        }
    }

    /// Rewrites what the file has of one table. O(bytes of it).
    private func seal(_ table: TableSchema) throws {
        try forEachRow(table.id, isSealed: false) { id, bytes in
            guard bytes.withUnsafeBytes({ RowReader.isReadable($0, table) }) else {
                throw storage.error(.damagedRow(table.id, id), "upgrade")
            }
            try put(table, id, RowBuffer(bytes))
        }
        if table.primaryKey != nil { try rebuildKeys(table) }
        try dropIndexes(table)
    }

    /// Keeps of the log the number of the last version: who follows it begins with the store's opening.
    private func upgradeLog() throws(StoreError) {
        let last = try storage.reading("read log") { () throws(EngineFailure) in
            try LMDB.lastID(transaction, storage.log)
        }
        guard let last else { return }
        try storage.check(engine_drop(transaction, storage.log, 0), "empty log")
        try storage.check(ChangeLog.append([], last, transaction, storage.log), "store log")
    }
}
