// Operations of a migration block beyond the columns of visited rows: added and deleted rows, links and lists. Rows are
// stored at once. Links to deleted rows are found in one scan after the block. Indexes are built then, and not kept
// during the block. Used on the opening thread, which holds the write lock.
import CStillingWellLMDB
import StillingWellBasis

/// Rows of a file that is being migrated.
final class MigrationRows {
    let change: SchemaChange
    /// Nil once the migration is over, so that a migration object that is kept does not keep the store open.
    private var openEngine: MigrationEngine?
    private var engine: MigrationEngine {
        guard let openEngine else { stopProgram("a migration was used after its end") }
        return openEngine
    }
    /// By table: the first id that the block has given out, and the next one.
    private var numbers: [UInt32: (first: UInt64, next: UInt64)] = [:]
    private var deleted: [String: Set<UInt64>] = [:]
    /// Elements in list order, by element table and owner. Contains only tables that the block has used.
    private var lists: [UInt32: [UInt64: [UInt64]]] = [:]
    private var oldLists: [UInt32: [UInt64: [UInt64]]] = [:]
    /// First failure in a place that cannot throw.
    private(set) var failure: StoreError?
    /// Whether the block has ended, and perhaps the transaction.
    var isOver = false

    init(_ change: SchemaChange, _ engine: MigrationEngine) {
        self.change = change
        openEngine = engine
    }

    /// Releases the store.
    func end() {
        isOver = true
        openEngine = nil
    }

    /// Makes the migration fail, at the latest when the block ends.
    func fail(_ error: StoreError) { failure = failure ?? error }

    // MARK: Rows

    /// Visits the rows that the block has not added itself, in order of ids. `body` may change or delete any row.
    func forEachRow(_ table: UInt32, _ body: (_ id: UInt64, _ old: [UInt8], _ now: [UInt8]) throws -> Void)
        throws
    {
        try engine.forEachRow(table) { id, bytes in
            if let first = numbers[table]?.first, id >= first { return }
            try body(id, try engine.old?.row(table, id) ?? bytes, bytes)
        }
    }

    /// Stores a row that the block has changed, unless it has been deleted.
    func put(_ table: TableSchema, _ id: UInt64, _ row: RowBuffer) throws(StoreError) {
        if isDeleted(table.name, id) { return }
        try engine.put(table, id, row)
    }

    /// Takes the id of a new row.
    func takeNumber(_ table: UInt32) throws(StoreError) -> UInt64 {
        var known: (first: UInt64, next: UInt64)
        if let given = numbers[table] {
            known = given
        } else {
            let first = try engine.nextNumber(table)
            known = (first, first)
        }
        defer { numbers[table] = (known.first, known.next + 1) }
        return known.next
    }

    func delete(_ table: String, _ id: UInt64) throws(StoreError) {
        guard let schema = change.schema.table(table), !isDeleted(table, id) else { return }
        deleted[table, default: []].insert(id)
        change.noteEnumerated(table)
        try engine.delete(schema.id, id)
    }

    func isDeleted(_ table: String, _ id: UInt64) -> Bool { deleted[table]?.contains(id) ?? false }

    /// Row of the file before the migration, or nil if there was none.
    func old(_ table: TableSchema, _ id: UInt64) throws(StoreError) -> [UInt8]? {
        try engine.old?.row(table.id, id)
    }

    /// Deletes a table and hides the columns that refer to it.
    func drop(_ table: TableSchema) throws(StoreError) {
        try engine.drop(table)
        change.remove(table.name)
    }

    /// Source of the large values of rows, before the migration or in it.
    func largeValues(isOld: Bool) -> UnsafeRawPointer? {
        isOld ? engine.old?.unretained : engine.values.unretained
    }

    // MARK: Lists

    /// Values of a list's elements in order, before the migration or in it.
    func elements(
        of owner: UInt64, in table: TableSchema, isOld: Bool
    ) throws(StoreError) -> [ColumnValue] {
        let column = table.columns[ListTable.value]
        var values: [ColumnValue] = []
        for id in try isOld ? oldList(owner, table) : list(owner, table) {
            guard let row = try isOld ? engine.old?.row(table.id, id) : engine.row(table.id, id) else { continue }
            let source = largeValues(isOld: isOld)
            values.append(row.withUnsafeBytes { RowReader($0, source).value(ListTable.value, column) })
        }
        return values
    }

    private func list(_ owner: UInt64, _ table: TableSchema) throws(StoreError) -> [UInt64] {
        if let known = lists[table.id] { return known[owner] ?? [] }
        let found = try sorted { body throws(StoreError) in try engine.scan(table.id, body) }
        lists[table.id] = found
        return found[owner] ?? []
    }

    private func oldList(_ owner: UInt64, _ table: TableSchema) throws(StoreError) -> [UInt64] {
        if let known = oldLists[table.id] { return known[owner] ?? [] }
        let found = try sorted { body throws(StoreError) in try engine.old?.scan(table.id, body) }
        oldLists[table.id] = found
        return found[owner] ?? []
    }

    private func sorted(
        _ scan: ((UInt64, RowReader) -> Void) throws(StoreError) -> Void
    ) throws(StoreError) -> [UInt64: [UInt64]] {
        var found: [UInt64: [(position: [UInt8], id: UInt64)]] = [:]
        try scan { id, row in
            found[row.slot(ListTable.owner), default: []].append((Array(row.bytes(ListTable.position)), id))
        }
        return found.mapValues { list in
            list.sorted { $0.position.lexicographicallyPrecedes($1.position) }.map(\.id)
        }
    }

    /// Replaces the elements of a list.
    /// - Parameter change: number of the list's last change, which includes these.
    func setList(
        of owner: UInt64, in table: TableSchema, _ values: [(RowBuffer) -> Void], change last: UInt64
    ) throws(StoreError) {
        for id in try list(owner, table) { try engine.delete(table.id, id) }
        var ids: [UInt64] = []
        for (index, value) in values.enumerated() {
            let (id, row) = (try takeNumber(table.id), RowBuffer())
            row.reset(columnCount: table.columns.count)
            row.setSlot(ListTable.owner, owner)
            ListPosition.last(last &- UInt64(values.count - 1 - index)).withUnsafeBytes {
                row.setBytes(ListTable.position, $0)
            }
            value(row)
            try engine.put(table, id, row)
            ids.append(id)
        }
        lists[table.id]?[owner] = ids
        change.noteEnumerated(table.name)
    }

    // MARK: The end

    /// Removes links and list elements that refer to deleted rows, and stores the counters of ids.
    func finish() throws {
        if !deleted.isEmpty {
            let owners = self.owners
            for table in change.schema.tables {
                let links = table.columns.indices.filter { index in
                    let column = table.columns[index]
                    return column.type == .link && column.target.map { deleted[$0] != nil } ?? false
                }
                if !links.isEmpty { try cut(table, links, owners[table.id]) }
            }
        }
        for (table, number) in numbers { try engine.storeNextNumber(table, number.next) }
    }

    /// For each element table, the list property that it belongs to.
    private var owners: [UInt32: (table: TableSchema, column: Int)] {
        var owners: [UInt32: (table: TableSchema, column: Int)] = [:]
        for table in change.schema.tables {
            for (column, list) in table.columns.enumerated() where list.type == .list {
                guard let elements = change.schema.table(ListTable.name(table.name, list.name)) else { continue }
                owners[elements.id] = (table, column)
            }
        }
        return owners
    }

    /// - Parameter owner: the list property whose elements the rows are, or nil.
    private func cut(_ table: TableSchema, _ links: [Int], _ owner: (table: TableSchema, column: Int)?) throws {
        try engine.forEachRow(table.id) { id, bytes in
            let gone = bytes.withUnsafeBytes { bytes in
                let row = RowReader(bytes)
                return links.filter { !row.isNull($0) && isDeleted(table.columns[$0].target ?? "", row.slot($0)) }
            }
            if gone.isEmpty { return }
            change.noteEnumerated(table.name)
            guard let owner else {
                let row = change.row(bytes, of: table, largeValues(isOld: false))
                for column in gone { row.setNull(column) }
                return try put(table, id, row)
            }
            try engine.delete(table.id, id)
            let number = bytes.withUnsafeBytes { RowReader($0).slot(ListTable.owner) }
            guard let holder = try engine.row(owner.table.id, number) else { return }
            let row = change.row(holder, of: owner.table, largeValues(isOld: false))
            row.setSlot(owner.column, row.reader.slot(owner.column) &+ 1)
            try put(owner.table, number, row)
        }
    }
}
