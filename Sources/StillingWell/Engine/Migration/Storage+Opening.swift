// Opens a store's tables. Usually they exist and match the models. No other thread has the storage yet.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc

extension Storage {
    /// Opens a store, or makes it if there is none.
    /// - Parameter limit: how long to wait for other processes.
    static func open(
        _ folder: StoreDirectory, durability: Durability, mapBytes: Int, schema: SchemaRequest,
        flushes: FlushPlan, limit: TimeLimit
    ) throws -> Storage {
        func open(tables: UInt32) throws -> Storage {
            try Storage(
                folder, durability: durability, mapBytes: mapBytes, schemaVersion: schema.version, flushes: flushes,
                tables: tables, limit: limit
            ) { storage, deadlineNs in try storage.openTables(schema, deadlineNs: deadlineNs) }
        }
        let few = schema.mostTables + FilePages.tables(in: folder.path)
        if few >= LMDB.maxTables { return try open(tables: LMDB.maxTables) }
        do {
            return try open(tables: UInt32(few))
        } catch StoreError.tooManyTables(_) {
            // Another process has added tables meanwhile.
            return try open(tables: LMDB.maxTables)
        }
    }

    private func openTables(_ request: SchemaRequest, deadlineNs: Int64) throws {
        if try openUnchanged(request) { return }
        _ = try writeLock.lock(TimeLimit(untilNs: deadlineNs))
        defer {
            // New tables are a commit too, and starting a snapshot relies on the announcement of every commit.
            page.ringAll()
            writeLock.unlock()
        }
        try reserved?.ensure()
        try flushing?.beforeWrite()
        let oldRows = request.migration == nil ? nil : try OldRows(environment, path: directory)
        var transaction: LMDBTransaction?
        try LMDB.check(mdb_txn_begin(environment, nil, 0, &transaction), "begin", path: directory)
        // If the last owner of the lock was killed in its commit, that commit may be visible from here on.
        page.ringAll()
        do {
            _ = try openTables(request, transaction!, old: oldRows, mayChange: true)
        } catch {
            engine_abort(transaction)
            throw error
        }
        try check(engine_commit(transaction), "commit")
    }

    /// Opens the tables if nothing has to be changed, which is the usual case. Takes no write lock, so that a long
    /// write is not waited for, and commits nothing, which would wake observers.
    /// - Returns: false, with no table open, if something has to be changed.
    private func openUnchanged(_ request: SchemaRequest) throws -> Bool {
        let transaction = try reading("begin") { () throws(EngineFailure) in
            try LMDB.beginReading(environment, at: page)
        }
        do {
            if try openTables(request, transaction, old: nil, mayChange: false) {
                try check(engine_commit(transaction), "open tables")
                return true
            }
        } catch StoreError.storage(_, code: EACCES, _) {
            // LMDB reports EACCES for a missing table in a read transaction.
        } catch {
            engine_abort(transaction)
            throw error
        }
        engine_abort(transaction)
        (tables, tablesByID) = ([:], [:])
        return false
    }

    /// - Returns: false if something has to be changed and `mayChange` is false.
    private func openTables(
        _ request: SchemaRequest, _ transaction: LMDBTransaction, old: OldRows?, mayChange: Bool
    ) throws -> Bool {
        let isEmpty = try reading("read tables") { () throws(EngineFailure) in
            try LMDB.count(transaction, LMDB.tables) == 0
        }
        log = try openTable(transaction, "log", MDB_INTEGERKEY, mayMake: isEmpty)
        meta = try openTable(transaction, "meta", 0, mayMake: isEmpty)
        let before = mayChange ? try StoreSchema.read(transaction, meta, path: directory, request.formats.range) : nil
        let engine = MigrationEngine(transaction: transaction, storage: self, old: old)
        guard let opened = try SchemaOpening(request: request, engine: engine, mayChange: mayChange).open() else {
            return false
        }
        for (_, table) in opened { tablesByID[table.id] = table }
        for (id, links) in try TableLinks.open(transaction, opened.map(\.1.schema), tablesByID, self) {
            tablesByID[id]?.links = links
        }
        if let before, before.version != request.version || before.format != request.formats.current {
            // Opened last: a mapping for reading does not open them, so the tables of models must have the lowest
            // handles here.
            try engine.completeTables(request.formats.range, except: tablesByID)
        }
        for case (let model?, let table) in opened { tables[model] = tablesByID[table.id] }
        let version = try reading("read log") { () throws(EngineFailure) in
            try ChangeLog.version(transaction, log)
        }
        checkedVersions.begin(at: version)
        return true
    }

    /// - Parameter mayMake: false for a stored table: if it is missing, an empty one must not replace it unnoticed.
    func openTable(
        _ transaction: LMDBTransaction, _ name: String, _ flags: Int32, mayMake: Bool
    ) throws(StoreError) -> MDB_dbi {
        var handle: MDB_dbi = 0
        let code = engine_open_table(transaction, name, UInt32(mayMake ? flags | MDB_CREATE : flags), &handle)
        if code == MDB_NOTFOUND {
            throw .cannotOpen(
                path: directory,
                reason: """
                    it is damaged: its table '\(name)' is not there any more; restore it from a backup, or write what is whole to a \
                    new one with Store.salvage
                    """)
        }
        try check(code, "open table \(name)")
        return handle
    }
}
