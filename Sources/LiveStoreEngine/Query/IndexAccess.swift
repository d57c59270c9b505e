// Which rows a filter can pass, found by secondary indexes instead of a scan. What is found are candidates: the whole
// filter is evaluated on each. Pure.

enum IndexAccess {
    /// A range is worth its random reads if it has at most this part of the rows.
    private static let smallPart = 8
    /// Objects at the end of a link that are worth going back from.
    private static let maxTargets = 4_096

    /// The rows that may pass, ascending by id; nil where a scan is as good.
    static func candidates(
        _ conditions: some Sequence<FilterExpression>, _ table: Table, _ source: any RowSource
    ) -> [ObjectID]? {
        guard let links = table.links else { return nil }
        var fewest: [ObjectID]?
        var bounds: [Int: (low: [UInt8]?, high: [UInt8]?)] = [:]
        for condition in conditions {
            if let found = candidates(condition, links, source), found.count < fewest?.count ?? .max { fewest = found }
            guard case .column(let column, let test, _) = condition, links.index(column) != nil else { continue }
            if let prefix = test.prefix, !prefix.isEmpty { bounds[column] = range(prefix) }
            if let end = test.end, let key = ColumnIndex.key(end.value) {
                if end.isUpper {
                    bounds[column, default: (nil, nil)].high = key
                } else {
                    bounds[column, default: (nil, nil)].low = key
                }
            }
        }
        if fewest == nil {
            for (column, range) in bounds where fewest == nil {
                fewest = source.ids(links.index(column)!, table, from: range.low, to: range.high, part: smallPart)
            }
        }
        return fewest.map { $0.count < 2 ? $0 : Set($0).sorted() }
    }

    /// Keys of what begins with a text, with regard to case.
    private static func range(_ prefix: [UInt8]) -> (low: [UInt8]?, high: [UInt8]?) {
        var key = SortKeyBytes()
        key.append(prefix: prefix, ascending: true)
        let low = Array(key.bytes.prefix(ColumnIndex.maxKeyBytes))
        // No byte of a text is FF, and after an escaped zero none follows but what continues it.
        return (low, low + [0xff])
    }

    private static func candidates(
        _ condition: FilterExpression, _ links: TableLinks, _ source: any RowSource
    ) -> [ObjectID]? {
        switch condition {
        case .identity(let id): return [id]
        case .column(let column, let test, _):
            guard let index = links.index(column), let values = test.values else { return nil }
            let keys = values.compactMap { ColumnIndex.key($0) }
            guard keys.count == values.count else { return nil }
            return keys.flatMap { source.ids(index, key: $0) }
        case .node(let node):
            switch node.kind {
            case .linked(let column), .quantified(let column, .any):
                guard let edge = links.edge(column), let target = source.storage.tablesByID[edge.target],
                    let targets = candidates(node.parts[0].conjuncts, target, source), targets.count <= maxTargets
                else { return nil }
                return Array(source.sources(of: targets, along: edge))
            case .and, .or, .not, .quantified, .naming: return nil
            }
        case .all, .none, .aggregate: return nil
        }
    }
}

extension RowSource {
    fileprivate func ids(
        _ index: ColumnIndex, _ table: Table, from low: [UInt8]?, to high: [UInt8]?, part: Int
    ) -> [ObjectID]? {
        reading(or: nil) { (transaction) throws(EngineFailure) in
            try index.ids(transaction, from: low, to: high, limit: try table.rowCount(transaction) / part)
        }
    }
}
