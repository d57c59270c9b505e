// Recovers what is undamaged of a store's file into a new store: rows with a valid checksum, links between such rows,
// and list elements whose object is there. Keys, indexes and list orders are built again.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc
import StillingWellBasis
import StillingWellTree

enum Salvage {
    /// Number of rows and large values between two commits of the new store. Each full 1,024 bytes of one count as
    /// another.
    private static let rowsPerCommit = 10_000

    /// Recovers the store at `place`, which no process has open, into `folder`. The old store stays as it is, except
    /// that after another boot or a failed flush it begins at its last flush.
    /// - Returns: the report about the old store.
    static func run(_ place: String, to folder: String, mapBytes: Int, limit: TimeLimit) throws -> FileReport {
        try Verification.alone(place, limit) { path, modes in
            let pages = try FilePages(path)
            let check = try StoreCheck.newest(pages, path)
            var rows = WholeRows()
            check.run(visitValue: { _, _ in }) { table, id, bytes in rows.note(table.id, id, RowReader(bytes)) }
            guard let stored = check.schema else {
                throw StoreError.cannotOpen(
                    path: path, reason: "its schema is lost, and with it what its rows mean; restore it from a backup")
            }
            try StoreFolder.make(folder, modes)
            let target = folder + "/" + StoreFolder.data
            guard access(target, F_OK) != 0 else {
                throw StoreError.cannotOpen(path: target, reason: "it exists; salvage to another folder, or remove it")
            }
            do {
                let new = try SalvagedStore(folder, stored, mapBytes: mapBytes, modes, rows)
                try new.fill(StoreCheck.newest(pages, path), check)
            } catch {
                // An incomplete store must not be taken for a whole one.
                StoreFolder.remove([StoreFolder.data, StoreFolder.lock], in: folder)
                throw error
            }
            return check.report
        }
    }

    /// Ids of the whole rows.
    fileprivate struct WholeRows {
        /// Ids by table, ascending.
        private var ids: [UInt32: [UInt64]] = [:]
        /// Numbers of their large values.
        private(set) var values: Set<UInt64> = []

        mutating func note(_ table: UInt32, _ id: UInt64, _ row: RowReader) {
            ids[table, default: []].append(id)
            for value in row.largeValues { values.insert(value.number) }
        }

        func contains(_ table: UInt32, _ id: UInt64) -> Bool {
            guard let ids = ids[table], case let place = ids.partitioningIndex(where: { $0 >= id }) else {
                return false
            }
            return place < ids.count && ids[place] == id
        }

        func last(_ table: UInt32) -> UInt64 { ids[table]?.last ?? 0 }
    }

    /// The new store while it is written.
    private final class SalvagedStore: LargeValueSource {
        private let folder: String
        private let environment: OpaquePointer
        private let schema: StoreSchema
        private let rows: WholeRows
        private let numbers: [String: UInt32]
        /// Names of the tables of list elements.
        private let lists: Set<String>
        /// Places of the written list elements, by element table.
        private var elements: [UInt32: [RankBuilding.Element]] = [:]
        private var transaction: LMDBTransaction?
        private var handles: [String: MDB_dbi] = [:]
        private var pending = 0
        private let buffer = RowBuffer()

        init(
            _ folder: String, _ schema: StoreSchema, mapBytes: Int, _ modes: FileModes, _ rows: WholeRows
        ) throws(StoreError) {
            self.folder = folder
            self.schema = schema
            self.rows = rows
            numbers = Dictionary(schema.tables.map { ($0.name, $0.id) }) { first, _ in first }
            lists = schema.listNames
            environment = try LMDB.makeEnvironment(mapBytes: mapBytes, path: folder)
            let code = engine_open(environment, folder, UInt32(MDB_NOTLS | MDB_NOSYNC), modes.file)
            // All properties are set, so `deinit` closes the environment.
            if code != 0 { throw StoreFile.openingError(code, folder) }
        }

        deinit {
            if let transaction { engine_abort(transaction) }
            engine_close(environment)
            StoreFolder.remove([StoreFolder.lock], in: folder)
        }

        private func check(_ code: Int32, _ operation: String) throws(StoreError) {
            if code == MDB_MAP_FULL {
                throw .cannotOpen(path: folder, reason: "what is salvaged does not fit the map; raise mapBytes")
            }
            try LMDB.check(code, operation, path: folder)
        }

        private func table(_ name: String, _ flags: Int32) throws(StoreError) -> (LMDBTransaction, MDB_dbi) {
            if transaction == nil { try check(mdb_txn_begin(environment, nil, 0, &transaction), "begin") }
            guard let transaction else { throw .storage(operation: "begin", code: EINVAL, reason: "no transaction") }
            if let handle = handles[name] { return (transaction, handle) }
            var handle: MDB_dbi = 0
            try check(engine_open_table(transaction, name, UInt32(flags | MDB_CREATE), &handle), "open \(name)")
            handles[name] = handle
            return (transaction, handle)
        }

        private func commit() throws(StoreError) {
            guard let open = transaction else { return }
            transaction = nil
            pending = 0
            try check(engine_commit(open), "commit")
        }

        /// Writes everything and makes it durable.
        /// - Parameters:
        ///   - source: check of the old file, which reads it again.
        ///   - check: result of the first check.
        func fill(_ source: StoreCheck, _ check: StoreCheck) throws {
            let (first, meta) = try table("meta", 0)
            try schema.write(first, meta, path: folder)
            var failure: (any Error)?
            let (_, values) = try table(EngineName.values, MDB_INTEGERKEY)
            source.run(visitValue: { [self] number, bytes in
                if failure != nil || !rows.values.contains(number) { return }
                do { try put(number, bytes, values) } catch { failure = error }
            }) { [self] table, id, bytes in
                if failure != nil { return }
                do {
                    let row = RowReader(bytes, unretained)
                    if try !put(table, id, row) { try delete(row.largeValues, values) }
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            let (second, _) = try table("meta", 0)
            let nextValue = max(check.nextRows[LargeValue.counter] ?? 1, (rows.values.max() ?? 0) &+ 1)
            try self.check(RowCounter.store(LargeValue.counter, nextValue, second, meta), "store the next number")
            for table in schema.tables {
                let (transaction, meta) = try self.table("meta", 0)
                let next = max(check.nextRows[table.id] ?? 1, rows.last(table.id) &+ 1)
                try self.check(RowCounter.store(table.id, next, transaction, meta), "store the next number")
                _ = try self.table(EngineName.rows(table.id), MDB_INTEGERKEY)
                if table.primaryKey != nil { _ = try self.table(EngineName.keys(table.id), 0) }
                if lists.contains(table.name) { try order(elements[table.id] ?? [], table) }
            }
            let (last, log) = try table("log", MDB_INTEGERKEY)
            try self.check(ChangeLog.append([], max(1, check.report.version), last, log), "store log")
            try commit()
            try self.check(mdb_env_sync(environment, 1), "synchronize")
            try StoreFolder.synchronize(folder)
        }

        private func put(_ number: UInt64, _ value: UnsafeRawBufferPointer, _ values: MDB_dbi) throws(StoreError) {
            let (transaction, _) = try table(EngineName.values, MDB_INTEGERKEY)
            try check(LMDB.put(transaction, values, id: number, value, MDB_APPEND), "store large value")
            try countPending(value.count)
        }

        private func delete(_ found: [LargeValue], _ values: MDB_dbi) throws(StoreError) {
            let (transaction, _) = try table(EngineName.values, MDB_INTEGERKEY)
            for value in found {
                try check(
                    LMDB.withNumber(value.number) { engine_del(transaction, values, &$0, nil) }, "delete large value")
            }
        }

        /// Commits if many rows are pending, because pending pages are in memory.
        private func countPending(_ bytes: Int) throws(StoreError) {
            pending += 1 + bytes / 1024
            if pending >= Salvage.rowsPerCommit { try commit() }
        }

        /// Always nil, because this store has written the values itself.
        let failure: StoreError? = nil

        func bytes(ofLarge number: UInt64, sum: UInt32, byteCount: Int) -> UnsafeRawBufferPointer {
            guard let transaction, let values = handles[EngineName.values],
                let found = try? LMDB.get(transaction, values, id: number)
            else { stopProgram("large value \(number) has just been stored and cannot be read") }
            return found
        }

        /// - Returns: false if the row is not stored: an element without its list or target, or a duplicate key.
        private func put(_ table: TableSchema, _ id: UInt64, _ row: RowReader) throws(StoreError) -> Bool {
            func isThere(_ column: Int) -> Bool {
                guard !row.isNull(column), let target = table.columns[column].target else { return true }
                return numbers[target].map { rows.contains($0, row.slot(column)) } ?? false
            }
            let links = table.columns.indices.filter { table.columns[$0].type == .link && !isThere($0) }
            // An element is dropped with its list, and with its target.
            if lists.contains(table.name), !links.isEmpty { return false }
            buffer.load(row, columnCount: row.columnCount, outOfLine: [])
            for column in links { buffer.setNull(column) }
            buffer.seal(table.id, id)
            if let column = table.primaryKey {
                let (transaction, keys) = try self.table(EngineName.keys(table.id), 0)
                let code = PrimaryKey.withBytes(of: buffer.reader, column, table.columns[column].type) {
                    IDEntry.with($0, id, table.id, nil) {
                        engine_put(transaction, keys, &$0, &$1, UInt32(MDB_NOOVERWRITE))
                    }
                }
                // If two whole rows have one key, the first is kept.
                if code == MDB_KEYEXIST { return false }
                try check(code, "store key")
            }
            let (transaction, handle) = try self.table(EngineName.rows(table.id), MDB_INTEGERKEY)
            try check(LMDB.put(transaction, handle, id: id, buffer.sealedBytes), "store row")
            try list(buffer.reader, table, ObjectID(rawValue: id))
            if lists.contains(table.name) {
                elements[table.id, default: []].append(RankBuilding.Element(buffer.reader, id))
            }
            try countPending(buffer.sealedBytes.count)
            return true
        }

        /// Builds the orders of the lists whose elements a table has.
        private func order(_ elements: [RankBuilding.Element], _ table: TableSchema) throws(StoreError) {
            let (transaction, handle) = try self.table(EngineName.ranks(table.id), 0)
            let (_, rows) = try self.table(EngineName.rows(table.id), MDB_INTEGERKEY)
            let order = ListOrder(table: table.id, handle: handle, rows: rows)
            try RankBuilding.build(elements) { (key, entries) throws(StoreError) in
                try check(entries.store(key, order, transaction).code, "store a list's order")
            }
        }

        /// Adds a row to the indexes of its table.
        private func list(_ row: RowReader, _ table: TableSchema, _ id: ObjectID) throws(StoreError) {
            for column in table.columns.indices where table.columns[column].isIndexed {
                let name = ColumnIndex.name(table.id, column)
                let (transaction, handle) = try self.table(name, Int32(ColumnIndex.flags))
                let index = ColumnIndex(of: table, column, handle: handle)
                if let key = index.key(row) {
                    try check(index.insert(transaction, key: key, id).code, "store index entry")
                }
            }
        }
    }
}
