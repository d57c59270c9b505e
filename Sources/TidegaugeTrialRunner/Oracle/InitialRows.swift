// Finds the initial rows of each query. A query over a range of scores does not scan all items.
import StillingWellBasis
import TidegaugeDriver

/// The dataset, with its rows of group 0 sorted by score. Immutable.
struct InitialRows: Sendable {
    private let dataset: Dataset
    /// Rows of group 0, ascending by score.
    private let main: ContiguousArray<OrderedRows.Row>

    /// O(n log n).
    init(_ dataset: Dataset) {
        self.dataset = dataset
        var main = ContiguousArray(
            (0..<dataset.items).map { index in
                OrderedRows.Row(order: dataset.item(at: index).score, key: Int64(index))
            })
        main.sort { $0.order < $1.order }
        self.main = main
    }

    /// Returns the rows of a query in its order.
    func rows(of query: Query) -> OrderedRows {
        var found: [OrderedRows.Row] = []
        if query.group == nil || query.group == 0 {
            let inRange = main[range(of: query.scores)]
            if let keys = query.keys {
                found += inRange.lazy.filter { keys.contains($0.key) }
            } else {
                found += inRange
            }
        }
        let first = dataset.items
        let audited = first + dataset.groups * Dataset.rowsPerGroup
        let named = query.group.map { $0 > 0 ? Int($0) - 1..<Int($0) : 0..<0 } ?? 0..<dataset.groups
        let groups = named.clamped(to: 0..<dataset.groups)
        let rows = groups.lowerBound * Dataset.rowsPerGroup..<groups.upperBound * Dataset.rowsPerGroup
        for index in [first + rows.lowerBound..<first + rows.upperBound, audited..<dataset.count].joined() {
            let item = dataset.item(at: index)
            if query.matches(key: item.key, group: item.group, score: item.score) {
                found.append(.init(order: item.score, key: item.key))
            }
        }
        switch query.order {
        case .scoreAscending: break
        case .scoreDescending: for index in found.indices { found[index].order = ~found[index].order }
        case .none, .list: for index in found.indices { found[index].order = found[index].key }
        }
        found.sort { $0.order < $1.order }
        return OrderedRows(sorted: found)
    }

    private func range(of scores: Range<Int64>?) -> Range<Int> {
        guard let scores else { return main.startIndex..<main.endIndex }
        let lower = main.partitioningIndex { $0.order >= scores.lowerBound }
        return lower..<max(lower, main.partitioningIndex { $0.order >= scores.upperBound })
    }
}
