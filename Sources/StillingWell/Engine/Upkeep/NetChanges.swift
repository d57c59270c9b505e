// Net changes of rows between two snapshots, by table. Taken from the log or, if that does not list all changes between
// them, found by comparing the snapshots.

struct NetChanges {
    /// Changed rows of one table, ascending by id.
    struct OfTable {
        let table: Table
        let rows: [ChangedRow]
    }

    let tables: [OfTable]
    /// All logged changes, ordered by table, id and version; empty if the log was not available.
    let log: [LoggedChange]
    let isComplete: Bool

    /// Changes of the tables in `wanted`. O(changes · log changes), or O(rows) without a log.
    init(from old: Snapshot, to new: Snapshot, wanted: (UInt32) -> Table?, allWanted: () -> [Table]) {
        guard let changes = new.changes(after: old.version) else {
            isComplete = false
            log = []
            tables = allWanted().map { OfTable(table: $0, rows: new.differingRows($0, from: old)) }
            return
        }
        isComplete = true
        log =
            changes.count == 1
            ? changes
            : changes.sorted { ($0.entry.table, $0.entry.id, $0.version) < ($1.entry.table, $1.entry.id, $1.version) }
        tables = Self.net(log, wanted)
    }

    private static func net(_ log: [LoggedChange], _ wanted: (UInt32) -> Table?) -> [OfTable] {
        var tables: [OfTable] = []
        var index = 0
        while index < log.count {
            let number = log[index].entry.table
            let table = wanted(number)
            var rows: [ChangedRow] = []
            while index < log.count, log[index].entry.table == number {
                if table != nil { add(log[index], at: index, to: &rows) }
                index += 1
            }
            if let table { tables.append(OfTable(table: table, rows: rows)) }
        }
        return tables
    }

    private static func add(_ change: LoggedChange, at index: Int, to rows: inout [ChangedRow]) {
        if let last = rows.last, last.id.rawValue == change.entry.id {
            rows[rows.count - 1].columns |= change.entry.columns
            rows[rows.count - 1].version = change.version
            rows[rows.count - 1].history = last.history.lowerBound..<index + 1
        } else {
            rows.append(
                ChangedRow(
                    id: ObjectID(rawValue: change.entry.id), columns: change.entry.columns, version: change.version,
                    history: index..<index + 1))
        }
    }

    /// Last version that changed an observed column of the row. If none did, the last version that changed the row.
    @inline(__always)
    func version(of row: ChangedRow, observed: Observed) -> UInt64 {
        if case .everything = observed { return row.version }
        return log[row.history].last { observed.includes($0.entry.columns) }?.version ?? row.version
    }

    /// Changes of one row in order of versions, or nil if the log was not available.
    func history(of id: ObjectID, in table: UInt32) -> ArraySlice<LoggedChange>? {
        guard isComplete else { return nil }
        let first = log.prefixCount { ($0.entry.table, $0.entry.id) < (table, id.rawValue) }
        return log[first...].prefix { $0.entry.table == table && $0.entry.id == id.rawValue }
    }
}
