// Passing rows of a snapshot in the order of their ids, several at a time, for a caller's loop that may end early. Used
// by one thread.

/// State of such a loop. It retains the snapshot, so rows found stay valid.
struct RowScan {
    private static let atOnce = 64

    private let table: Table
    private let test: RowTest
    let snapshot: Snapshot
    /// Candidates found without a scan, or nil.
    private let candidates: [ObjectID]?
    /// Index of the next candidate. Without candidates, the next id to visit, or nil behind the last row.
    private var next: UInt64? = 0

    init(_ filter: FilterExpression, _ table: Table, in snapshot: Snapshot) {
        let conditions = filter.normalized.conjuncts
        (self.table, self.snapshot, test) = (table, snapshot, RowTest(conditions))
        candidates = conditions.contains(.none) ? [] : IndexAccess.candidates(conditions, table, snapshot)
    }

    /// Replaces the content of `rows` by the next rows, or by nothing at the end. The snapshot keeps failures to read.
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
