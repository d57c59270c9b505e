// The first of many rows in an order. Sorting some and dropping the rest is as fast as a heap and simpler. Used by one
// thread.

import StillingWellTree

struct FirstRows {
    private let most: Int
    private let isReversed: Bool
    private var encoder: SortKeyEncoder
    private var rows: [(key: RankedKey, row: ScannedRow)] = []
    /// Key that further rows must precede, once there are enough rows.
    private var bound: RankedKey?

    init(_ end: OrderedEnd, _ table: Table) {
        (most, isReversed) = (end.most, end.isReversed)
        encoder = SortKeyEncoder(TreeKey(table: table.id, residual: [], sort: end.sort), table.schema)
    }

    mutating func add(_ row: ScannedRow, _ source: any RowSource, _ links: TableLinks?) {
        let key = encoder.key(row.row(in: source), row.id, source, links)
        if let bound, isReversed ? key < bound : bound < key { return }
        rows.append((key, row))
        // About twice the wanted number, so that sorting costs each row O(log most) on average.
        if (rows.count - 16) / 2 >= most { cut() }
    }

    private mutating func cut() {
        rows.sort { [isReversed] in isReversed ? $1.key < $0.key : $0.key < $1.key }
        guard rows.count >= most else { return }
        rows.removeSubrange(most...)
        bound = rows.last?.key
    }

    /// Removes and returns the gathered rows, in order.
    mutating func take() -> [ScannedRow] {
        if rows.isEmpty { return [] }
        cut()
        defer { (rows, bound) = ([], nil) }
        return rows.map(\.row)
    }
}
