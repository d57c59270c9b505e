// Rows that may pass a filter, found without a scan. The caller tests the whole filter on each.

enum IndexAccess {
    /// Largest part of the rows, 1/8, for which the random reads of a range are faster than a scan.
    private static let smallPart = 8
    /// Maximum number of link targets from which links are followed back.
    private static let maxTargets = 4_096

    /// Rows that may pass, ascending by id, or nil if a scan is needed or as fast.
    /// - Parameter sharing: number of queries that would share the scan, so that each pays only a part of it.
    static func candidates(
        _ conditions: some Sequence<FilterExpression>, _ table: Table, _ source: any RowSource, sharing: Int = 1
    ) -> [ObjectID]? {
        guard table.links != nil || table.primaryIndex != nil else { return nil }
        var fewest: [ObjectID]?
        var ranges: [(index: ColumnIndex, bounds: WindowBounds)] = []
        for condition in conditions {
            if let found = candidates(condition, table, source), found.count < fewest?.count ?? .max { fewest = found }
            if let fewest, fewest.count < 2 { return fewest }
            guard case .column(let column, _, _) = condition, let index = table.index(column) else { continue }
            let place = ranges.firstIndex { $0.index.column == column } ?? ranges.count
            if place == ranges.count { ranges.append((index, WindowBounds(index: column))) }
            _ = ranges[place].bounds.take(condition)
        }
        for (index, bounds) in ranges where fewest == nil && !(bounds.lower == nil && bounds.upper == nil) {
            fewest = source.reading(or: nil) { (transaction) throws(EngineFailure) in
                try index.ids(
                    transaction, from: bounds.lower, below: bounds.upper,
                    limit: try table.rowCount(transaction) / (smallPart * sharing))
            }
        }
        return fewest.map { $0.count < 2 ? $0 : Set($0).sorted() }
    }

    private static func candidates(
        _ condition: FilterExpression, _ table: Table, _ source: any RowSource
    ) -> [ObjectID]? {
        switch condition {
        case .identity(let id): return [id]
        case .column(let column, let test, _):
            guard let values = test.values else { return nil }
            if column == table.schema.primaryKey { return values.compactMap { source.find(table, primaryKey: $0) } }
            if let order = table.links?.order, column == ListTable.owner {
                let owners = values.compactMap { if case .link(let owner) = $0 { owner } else { nil } }
                return owners.count == values.count ? owners.flatMap { order.ids(of: $0, in: source) } : nil
            }
            guard let index = table.index(column) else { return nil }
            let keys = values.compactMap { ColumnIndex.key($0) }
            guard keys.count == values.count else { return nil }
            return keys.flatMap { source.ids(index, key: $0) }
        case .node(let node):
            switch node.kind {
            case .linked(let column), .quantified(let column, .any):
                guard let edge = table.links?.edge(column), let target = source.storage.tablesByID[edge.target],
                    let targets = candidates(node.parts[0].conjuncts, target, source), targets.count <= maxTargets
                else { return nil }
                return Array(source.sources(of: targets, along: edge))
            case .and, .or, .not, .quantified, .naming: return nil
            }
        case .all, .none, .aggregate: return nil
        }
    }

    /// Number of passing rows, if entries of LMDB are enough to tell; nil if rows have to be read.
    static func count(_ conditions: [FilterExpression], _ table: Table, _ source: any RowSource) -> Int? {
        if conditions.isEmpty { return source.reading(or: 0, table.rowCount) }
        guard case .column(let column, let test, _) = conditions[0], let index = table.index(column) else {
            return nil
        }
        if conditions.count == 1, column == table.schema.primaryKey, case .compare(.equal, let key) = test {
            return source.find(table, primaryKey: key) == nil ? 0 : 1
        }
        if conditions.count == 1, case .compare(.equal, let value) = test, let key = ColumnIndex.number(value),
            let count = source.mappedCount(index, key)
        {
            return count
        }
        var ranges = [WindowBounds(index: column)]
        if !conditions.allSatisfy({ ranges[0].take($0) }) {
            guard conditions.count == 1, let values = test.values else { return nil }
            ranges = []
            for value in values {
                var range = WindowBounds(index: column)
                guard range.take(.compare(column: column, .equal, value)) else { return nil }
                ranges.append(range)
            }
        }
        guard ranges.allSatisfy({ max($0.lower?.count ?? 0, $0.upper?.count ?? 0) <= ColumnIndex.maxKeyBytes })
        else { return nil }
        return source.reading(or: 0) { (transaction) throws(EngineFailure) in
            var count = 0
            for range in ranges { count += try index.count(transaction, from: range.lower, below: range.upper) }
            return count
        }
    }
}
