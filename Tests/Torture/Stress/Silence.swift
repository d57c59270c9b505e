// A commit with suppressed notifications, for the observers that it skips. They have shown its changes themselves. A
// change applies if the observer knew the row's old values. A row that the commit deleted, or that left the results
// by it, is removed in any case.
import StillingWell

struct Silence: Sendable {
    struct Row: Sendable, CustomStringConvertible {
        let id: ObjectID
        let before: RowValue?
        let after: RowValue?

        var description: String {
            "#\(id.rawValue) from \(before?.description ?? "none") to \(after?.description ?? "none")"
        }
    }

    let version: UInt64
    /// Changed rows of the small table, each once.
    let rows: [Row]

    func apply(to known: inout [RowValue], _ query: Query) {
        guard query.table == .small else { return }
        for row in rows {
            let index = known.firstIndex { $0.id == row.id }
            let before = row.before.flatMap { query.passes($0) ? $0 : nil }
            guard let after = row.after, query.passes(after) else {
                if let index, row.after == nil || before != nil { known.remove(at: index) }
                continue
            }
            guard index.map({ known[$0] }) == before else { continue }
            if let index { known.remove(at: index) }
            known.insert(after, at: known.firstIndex { query.precedes(after, $0) } ?? known.count)
        }
    }
}
