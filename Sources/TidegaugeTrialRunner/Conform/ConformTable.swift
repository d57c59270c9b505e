// The correct rows of a store at one version, and what a query finds in them. Slow and simple, for a few rows.
import TidegaugeDriver

struct ConformTable: Sendable {
    private struct Row: Sendable, Equatable {
        var item: Item
        /// Position in order of insertion. Loaded rows come first, in the order in which they were given.
        var age: Int64
    }

    private var rows: [Int64: Row] = [:]
    private var nextAge: Int64 = 0

    init(_ items: [Item]) { for item in items { insert(item) } }

    var keys: [Int64] { rows.keys.sorted() }

    subscript(key: Int64) -> Item? { rows[key]?.item }

    /// Applies all changes, or none if one of them changes a missing row.
    /// - Returns: key of the first missing row, or nil.
    mutating func apply(_ changes: [Change]) -> Int64? {
        var next = self
        for change in changes {
            let item = change.item
            guard change.operation == .insert || next.rows[item.key] != nil else { return item.key }
            switch change.operation {
            case .insert: next.insert(item)
            case .updateScore:
                next.rows[item.key]!.item.score = item.score
                next.rows[item.key]!.item.stamp = item.stamp
            case .touch, .moveToFront: next.rows[item.key]!.item.stamp = item.stamp
            case .delete: next.rows[item.key] = nil
            }
        }
        self = next
        return nil
    }

    private mutating func insert(_ item: Item) {
        rows[item.key] = Row(item: item, age: nextAge)
        nextAge += 1
    }

    /// Returns the rows of a query in its order.
    func found(by query: Query) -> [Item] {
        rows.values.compactMap { row in
            place(row, query).map { (place: $0, item: row.item) }
        }.sorted { $0.place < $1.place }.map(\.item)
    }

    /// Returns the rows of a query for the replay of change sets.
    func ordered(by query: Query) -> OrderedRows {
        let found = rows.values.compactMap { row in
            place(row, query).map { OrderedRows.Row(order: $0, key: row.item.key) }
        }
        return OrderedRows(sorted: found.sorted { $0.order < $1.order })
    }

    /// Returns the rows of a query that differ in another state.
    func net(to other: ConformTable, _ query: Query) -> [QueryHistory.Touch] {
        Set(rows.keys).union(other.rows.keys).sorted().compactMap { key in
            let before = rows[key].flatMap { place($0, query) }
            let after = other.rows[key].flatMap { place($0, query) }
            guard before != nil || after != nil, rows[key] != other.rows[key] else { return nil }
            return .init(key: key, before: before ?? TableModel.absent, after: after ?? TableModel.absent)
        }
    }

    private func place(_ row: Row, _ query: Query) -> Int64? {
        let item = row.item
        guard query.matches(key: item.key, group: item.group, score: item.score) else { return nil }
        return query.order.position(of: .init(score: item.score, stamp: item.stamp, age: row.age, place: row.age))
    }
}
