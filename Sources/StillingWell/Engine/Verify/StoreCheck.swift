// Verifies one version of a store's file: pages by LMDB's format; rows, keys, index entries, the log and list orders by
// their checksums; and whether keys, indexes and orders match the rows.
import CStillingWellLMDB
import Foundation
import StillingWellBasis
import StillingWellTree

/// Check of one version of a file. Used by one thread.
final class StoreCheck {
    private let pages: FilePages
    private let meta: MetaPage
    private let walk: TreeWalk
    private(set) var records: [String: TreeRecord] = [:]
    private(set) var schema: StoreSchema?
    private(set) var report = FileReport()
    /// Stored counters: the next object id of each table, and the next number of large values.
    private(set) var nextRows: [UInt32: UInt64] = [:]
    private let values = FoundValues()

    init(_ pages: FilePages, _ meta: MetaPage) {
        self.pages = pages
        self.meta = meta
        walk = TreeWalk(pages, lastPage: meta.lastPage)
    }

    /// Check of the newest version of a closed store's file.
    /// - Throws: `cannotOpen` if the file has no valid header; errors of `FlushFile.records`.
    static func newest(_ pages: FilePages, _ directory: String) throws(StoreError) -> StoreCheck {
        let first = pages.firstPages()
        let headers = pages.headers(in: first)
        var finding = HeaderFinding.later
        if let record = try Recovery.lastFlush(directory, first), Recovery.isOf(record, pages) {
            finding = HeaderFinding(headers, record, lastFreed: pages.lastFreed)
            let place = record.transaction % 2
            if finding == .damaged, let meta = record.sector(Int(place)).withUnsafeBytes({ MetaPage($0, place) }) {
                let check = StoreCheck(pages, meta)
                check.noteHeader(place)
                return check
            }
        }
        let metas = headers.map(\.meta)
        guard let newest = metas.max(by: { $0.transaction < $1.transaction }) else {
            throw .cannotOpen(
                path: pages.path, reason: "it is no store, or both of its headers are damaged; restore it from a backup"
            )
        }
        let check = StoreCheck(pages, newest)
        if finding == .unclear { check.noteHeader(newest.number) }
        // A store restored to its last flush has that header twice.
        if metas.count == 2, metas[0].isSame(as: metas[1]) { return check }
        // Commits write the two headers in turn.
        if metas.count != 2 || !HeaderFinding.areSuccessive(headers, lastFreed: pages.lastFreed) {
            check.walk.note(
                newest.number == 0 ? 1 : 0, "the header of the last commit, or of the one before, is damaged")
        }
        return check
    }

    /// Reports a header that differs from the flushed one.
    func noteHeader(_ page: UInt64) {
        walk.note(page, "the header of the last commit, or of the one before, is not what was flushed")
    }

    /// Checks the file. O(pages).
    /// - Parameters:
    ///   - visitValue: called with every large value and its number, before any row. Valid for the call.
    ///   - visit: called with every whole row. Valid for the call.
    func run(
        visitValue: (UInt64, UnsafeRawBufferPointer) -> Void = { _, _ in },
        _ visit: (TableSchema, UInt64, UnsafeRawBufferPointer) -> Void = { _, _, _ in }
    ) {
        walk.walk(meta.tables, "the tables", page: meta.number) { [self] name, value, isRecord in
            guard isRecord, let record = TreeRecord(value) else {
                return walk.note(meta.number, "an entry of the tables is none")
            }
            records[String(decoding: name, as: UTF8.self)] = record
        }
        readSchema()
        if let schema {
            let lists = schema.listNames
            readValues(schema, visitValue)
            for table in schema.tables { check(table, isOrdered: lists.contains(table.name), visit) }
            let areRowsWhole = report.tables.allSatisfy(\.damagedObjects.isEmpty) && walk.damage.isEmpty
            if areRowsWhole, values.count > 0 { walk.note(0, "\(values.count) large values are no object's") }
            if let next = nextRows[LargeValue.counter], next <= values.last {
                walk.note(0, "the number of the next large value is taken")
            }
        }
        checkLog()
        checkRest()
        checkFree()
        report.usedPages = walk.usedPages
        let known = UInt64(report.usedPages + report.freePages + 2)
        if walk.damage.isEmpty, known != meta.lastPage &+ 1 {
            walk.note(meta.number, "\(known) pages are in use or free, of \(meta.lastPage &+ 1) that there should be")
        }
        report.damage = walk.damage.map { $0.page < 2 ? $0.what : "\($0.what) (page \($0.page))" }
    }

    private func take(_ name: String, _ visit: TreeWalk.Visit) {
        guard let record = records.removeValue(forKey: name) else { return }
        walk.walk(record, name, page: 0, visit)
    }

    private func readSchema() {
        var stored: Data?
        var sum: [UInt8]?
        take("meta") { [self] key, value, _ in
            let name = String(decoding: key, as: UTF8.self)
            if name == "schema" {
                stored = Data(value)
            } else if name == StoreSchema.sumKey {
                sum = Array(value)
            }
            if name.hasPrefix("next."), let table = UInt32(name.dropFirst(5)), value.count == 8 {
                nextRows[table] = value.loadUnaligned(as: UInt64.self)
            }
        }
        do {
            schema = try stored.map { try StoreSchema.decode($0) }
            guard let stored, let found = schema else { return walk.note(0, "the schema is lost") }
            // Rows cannot be interpreted with a damaged schema.
            if let sum, sum != StoreSchema.sum(of: stored) {
                schema = nil
                walk.note(0, "the schema is not what was stored")
            } else if !found.isPossible {
                keepPossible(of: found)
            }
        } catch {
            walk.note(0, "the schema cannot be read")
        }
    }

    /// Continues with the tables whose schema is valid.
    private func keepPossible(of found: StoreSchema) {
        schema = found.withoutImpossibleTables
        if schema == nil { return walk.note(0, "the schema cannot be read") }
        for table in found.impossibleTables { walk.note(0, "the schema of '\(table.name)' cannot be read") }
    }

    // MARK: Tables

    private func readValues(_ schema: StoreSchema, _ visit: (UInt64, UnsafeRawBufferPointer) -> Void) {
        values.keepsStarts = schema.tables.contains { table in
            table.largeColumns.contains { table.columns[$0].isIndexed }
        }
        if records[EngineName.values] == nil { walk.note(meta.number, "the table of large values is lost") }
        take(EngineName.values) { [self] key, bytes, _ in
            guard key.count == 8 else { return walk.note(0, "the number of a large value is none") }
            let number = key.loadUnaligned(as: UInt64.self)
            values.add(number, bytes)
            visit(number, bytes)
        }
    }

    /// Sum over entries that does not depend on their order. Compares the rows that should be listed with those listed.
    private struct Listing: Equatable {
        var count = 0
        private var sum: UInt64 = 0

        mutating func add(_ key: UInt32, _ id: UInt64) {
            count += 1
            sum &+= SplitMix64.mix(SplitMix64.mix(UInt64(key)) ^ id)
        }

        /// Adds a list element with its position.
        mutating func add(_ owner: UInt64, _ position: UnsafeRawBufferPointer, _ id: UInt64) {
            add(Checksum.entry(Checksum.key(position, 0, nil), owner), id)
        }
    }

    private func check(
        _ table: TableSchema, isOrdered: Bool,
        _ visit: (TableSchema, UInt64, UnsafeRawBufferPointer) -> Void
    ) {
        let before = walk.damage.count
        var found = FileReport.Table(name: table.name)
        let indexes = table.columns.indices.filter { table.columns[$0].isIndexed }.map {
            ColumnIndex(of: table, $0, handle: 0)
        }
        var last: UInt64 = 0
        var (keys, listings) = (Listing(), [Listing](repeating: Listing(), count: indexes.count))
        var places = Listing()
        take(EngineName.rows(table.id)) { key, bytes, _ in
            guard key.count == 8, case let id = key.loadUnaligned(as: UInt64.self),
                RowReader.isWhole(bytes, table.id, id),
                case let row = RowReader(bytes, values.unretained), values.have(row.largeValues)
            else {
                if key.count == 8 {
                    found.damagedObjects.append(ObjectID(rawValue: key.loadUnaligned(as: UInt64.self)))
                }
                return walk.note(0, "a row of '\(table.name)' is not what was stored")
            }
            found.wholeObjects += 1
            last = id
            if let column = table.primaryKey {
                PrimaryKey.withBytes(of: row, column, table.columns[column].type) {
                    keys.add(Checksum.key($0, table.id, nil), id)
                }
            }
            for (place, index) in indexes.enumerated() {
                guard let key = index.key(row) else { continue }
                key.withUnsafeBytes { listings[place].add(Checksum.key($0, table.id, index.column), id) }
            }
            if isOrdered { places.add(row.slot(ListTable.owner), row.bytes(ListTable.position), id) }
            values.remove(row.largeValues)
            visit(table, id, bytes)
        }
        report.tables.append(found)
        if let next = nextRows[table.id], next <= last {
            walk.note(0, "the number of the next object of '\(table.name)' is taken")
        }
        let areRowsWhole = walk.damage.count == before
        if table.primaryKey != nil {
            let name = EngineName.keys(table.id)
            compare(name, "the primary keys of '\(table.name)'", areRowsWhole, keys, table.id, nil)
        }
        for (index, listing) in zip(indexes, listings) {
            let name = ColumnIndex.name(table.id, index.column)
            let described = "the index of '\(table.name).\(table.columns[index.column].name)'"
            compare(name, described, areRowsWhole, listing, table.id, index.column)
        }
        if isOrdered { compare(table, areRowsWhole, places) }
    }

    /// Checks the orders of lists. Compares them with the elements if all elements are whole.
    private func compare(_ table: TableSchema, _ areRowsWhole: Bool, _ expected: Listing) {
        let before = walk.damage.count
        var listed = Listing()
        var check = RankCheck(table.id) { listed.add($0, $1, $2) }
        take(EngineName.ranks(table.id)) { key, node, _ in check.add(key, node) }
        check.finish()
        if check.damaged > 0 { walk.note(0, "\(check.damaged) orders of '\(table.name)' are not what was stored") }
        if areRowsWhole, walk.damage.count == before, listed != expected {
            walk.note(
                0,
                "the orders of '\(table.name)' list \(listed.count) elements, other than the \(expected.count) there are"
            )
        }
    }

    /// Checks keys or an index. Compares them with the rows if all rows are whole.
    private func compare(
        _ name: String, _ described: String, _ areRowsWhole: Bool, _ expected: Listing,
        _ table: UInt32, _ column: Int?
    ) {
        guard records[name] != nil || expected.count > 0 else { return take(name) { _, _, _ in } }
        let before = walk.damage.count
        var listed = Listing()
        take(name) { key, entry, _ in
            let sum = Checksum.key(key, table, column)
            guard let id = IDEntry.id(entry, key: sum) else {
                return walk.note(0, "an entry of \(described) is not what was stored")
            }
            listed.add(sum, id)
        }
        if areRowsWhole, walk.damage.count == before, listed != expected {
            walk.note(0, "\(described) lists \(listed.count) objects, other than the \(expected.count) that there are")
        }
    }

    // MARK: Log, free pages and other tables

    private func checkLog() {
        var last: UInt64?
        take("log") { [self] key, value, _ in
            guard key.count == 8, case let version = key.loadUnaligned(as: UInt64.self),
                ChangeLog.isWhole(value, version), last.map({ version == $0 &+ 1 }) ?? true
            else { return walk.note(0, "what is listed of a version is not what was stored") }
            last = version
        }
        report.version = last ?? 0
    }

    /// Checks the pages of tables that are not in the schema.
    private func checkRest() {
        for name in records.keys.sorted() { take(name) { _, _, _ in } }
    }

    /// Checks the list of free pages: records by transaction, each a count and descending page numbers. No listed page
    /// may be in use.
    private func checkFree() {
        walk.walk(meta.free, "the free pages", page: meta.number) { [self] key, value, _ in
            let words = value.count / 8
            guard words > 0, case let count = value.loadUnaligned(as: UInt64.self), count < UInt64(words) else {
                return walk.note(0, "a list of free pages is damaged")
            }
            if key.count != 8 || key.loadUnaligned(as: UInt64.self) > meta.transaction {
                walk.note(0, "a list of free pages is of no commit before the last")
            }
            var previous = UInt64.max
            for index in 1..<Int(count) + 1 {
                let page = value.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
                if page > previous { walk.note(page, "a list of free pages is not in order") }
                previous = page
                guard walk.claim(page) else {
                    walk.note(page, "a page that is in use, or that is none, is listed as free")
                    continue
                }
                report.freePages += 1
            }
        }
    }
}

/// Large values of a file that no row has claimed yet, as far as needed to check rows. Used by one thread.
private final class FoundValues: LargeValueSource {
    /// Bytes of a value that an index key contains at most.
    private static let startBytes = ColumnIndex.maxKeyBytes

    private var found: [UInt64: (sum: UInt32, byteCount: Int, start: [UInt8])] = [:]
    /// Always nil: rows with missing values are not read.
    let failure: StoreError? = nil
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: startBytes, alignment: 8)
    /// Whether starts of values are kept, because a column that may have large values is indexed.
    var keepsStarts = false
    var count: Int { found.count }
    /// Largest number of a value.
    private(set) var last: UInt64 = 0

    deinit { scratch.deallocate() }

    func add(_ number: UInt64, _ bytes: UnsafeRawBufferPointer) {
        last = max(last, number)
        found[number] = (
            Checksum.value(bytes, number), bytes.count, keepsStarts ? Array(bytes.prefix(Self.startBytes)) : []
        )
    }

    /// Returns whether all values exist and match.
    func have(_ values: [LargeValue]) -> Bool {
        values.allSatisfy { value in
            found[value.number].map { $0.sum == value.sum && $0.byteCount == value.byteCount } ?? false
        }
    }

    func remove(_ values: [LargeValue]) { for value in values { found[value.number] = nil } }

    /// Start of a value, which is all that index keys contain.
    func bytes(ofLarge number: UInt64, sum: UInt32, byteCount: Int) -> UnsafeRawBufferPointer {
        let start = found[number]?.start ?? []
        scratch.copyBytes(from: start)
        return UnsafeRawBufferPointer(rebasing: scratch[..<start.count])
    }
}
