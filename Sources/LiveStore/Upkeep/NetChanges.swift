// The rows that changed between two snapshots, once each and by table. The log tells; where it was pruned, or a commit
// was too large to be listed, the two snapshots are compared instead, and what follows is the same.

struct NetChanges {
    /// Rows of one table, ascending by id.
    struct OfTable {
        let table: Table
        let rows: ArraySlice<ChangedRow>
    }

    let tables: [OfTable]

    /// Changes of the tables in `wanted`. O(changes log changes), or O(rows) without a log.
    init(from old: Snapshot, to new: Snapshot, wanted: (UInt32) -> Table?, allWanted: () -> [Table]) {
        switch new.changes(after: old.version) {
        case .complete(let entries): tables = Self.net(entries, wanted)
        case .incomplete:
            tables = allWanted().map { OfTable(table: $0, rows: new.differingRows($0, from: old)[...]) }
        }
    }

    private static func net(_ entries: [LogEntry], _ wanted: (UInt32) -> Table?) -> [OfTable] {
        if entries.count == 1 {
            guard let table = wanted(entries[0].table) else { return [] }
            return [OfTable(table: table, rows: [ChangedRow(entries[0])])]
        }
        let sorted = entries.sorted { ($0.table, $0.id) < ($1.table, $1.id) }
        var tables: [OfTable] = []
        var index = 0
        while index < sorted.count {
            let number = sorted[index].table
            var rows: [ChangedRow] = []
            while index < sorted.count, sorted[index].table == number {
                let row = ChangedRow(sorted[index])
                if rows.last?.id == row.id {
                    rows[rows.count - 1].columns |= row.columns
                } else {
                    rows.append(row)
                }
                index += 1
            }
            if let table = wanted(number) { tables.append(OfTable(table: table, rows: rows[...])) }
        }
        return tables
    }
}

extension ChangedRow {
    fileprivate init(_ entry: LogEntry) {
        self.init(id: ObjectID(rawValue: entry.id), columns: entry.columns)
    }
}
