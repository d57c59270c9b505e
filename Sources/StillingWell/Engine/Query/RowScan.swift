// The rows of a snapshot that pass a filter, in the order of their ids, some at a time: for who goes over them in a loop of its own,
// and may end it early. One thread.

/// Where such a loop has come to. It holds the snapshot, so what it has found stays where it is.
struct RowScan {
    private static let atOnce = 64

    private let table: Table
    private let test: RowTest
    let snapshot: Snapshot
    /// What an index leads to, where one does.
    private let candidates: [ObjectID]?
    /// The next of them; or else the first id that is not visited yet, nil behind the last row.
    private var next: UInt64? = 0

    init(_ filter: FilterExpression, _ table: Table, in snapshot: Snapshot) {
        let conditions = filter.normalized.conjuncts
        (self.table, self.snapshot, test) = (table, snapshot, RowTest(conditions))
        candidates = conditions.contains(.none) ? [] : IndexAccess.candidates(conditions, table, snapshot)
    }

    /// Puts the next rows in the place of what `rows` has; none where there are no more. What cannot be read is kept by the
    /// snapshot.
    mutating func fill(_ rows: inout [ScannedRow]) {
        rows.removeAll(keepingCapacity: true)
        if let candidates { return fill(&rows, from: candidates) }
        while rows.count < Self.atOnce, let first = next {
            let (test, links) = (test, table.links)
            next = snapshot.scanRun(table, from: first) { found, source in
                if test.isEmpty {
                    rows.append(contentsOf: found)
                } else {
                    let values = source.largeValues
                    for row in found where test.passes(row.row(values), row.id, source, links) { rows.append(row) }
                }
            }
        }
    }

    private mutating func fill(_ rows: inout [ScannedRow], from candidates: [ObjectID]) {
        guard var place = next else { return }
        while place < candidates.count, rows.count < Self.atOnce {
            let id = candidates[Int(place)]
            place += 1
            if let row = snapshot.row(table, id), test.passes(row, id, snapshot, table.links) {
                rows.append(ScannedRow(id: id, row))
            }
        }
        next = place
    }
}
