// Filters over links without their Swift types: conditions at the end of a path, and the other rows that filters or
// orders read.

extension FilterExpression {
    /// Condition on the row at the end of a path of links.
    /// - Parameter passesMissing: whether a row passes if its path ends early, as null would.
    static func along(_ links: ArraySlice<Int>, _ condition: FilterExpression, passesMissing: Bool = false)
        -> Self
    {
        guard !links.isEmpty else { return condition }
        if passesMissing { return .not(along(links, .not(condition))) }
        return links.reversed().reduce(condition) { .linked(column: $1, $0) }
    }

    /// Comparison of a property, or of one over links, with a constant. A path that ends early reads as null.
    static func compare(_ path: ColumnPath, _ comparison: Comparison, _ value: ColumnValue, isOptional: Bool)
        -> Self
    {
        along(
            path.links, .compare(column: path.column, comparison, value, isOptional: isOptional),
            passesMissing: admitsNull(comparison, value))
    }

    /// Comparison of an aggregate of a list, or of one over links, with a constant. A path that ends early reads as
    /// null.
    static func aggregate(
        _ path: ColumnPath, _ aggregate: Aggregate, of column: Int?, _ comparison: Comparison, _ value: ColumnValue
    ) -> Self {
        along(
            path.links, .aggregate(column: path.column, aggregate, of: column, comparison, value),
            passesMissing: admitsNull(comparison, value))
    }

    /// Whether null compares so to a value: it equals null and differs from everything else.
    static func admitsNull(_ comparison: Comparison, _ value: ColumnValue) -> Bool {
        (comparison == .equal) == (value == .null) && [.equal, .notEqual].contains(comparison)
    }

    /// Calls `body` with each path to other rows that the filter reads, and the columns it reads there.
    func forEachUse(_ links: TableLinks?, _ tables: [UInt32: Table], _ body: ([LinkEdge], UInt64) -> Void) {
        var pending: [(filter: FilterExpression, links: TableLinks?, way: [LinkEdge])] = [(self, links, [])]
        while let (filter, links, way) = pending.popLast() {
            switch filter {
            case .node(let node):
                switch node.kind {
                case .and, .or, .not, .naming: for part in node.parts { pending.append((part, links, way)) }
                case .linked(let column), .quantified(let column, _):
                    guard let edge = links?.edge(column) else { continue }
                    body(way + [edge], node.parts[0].ownColumns)
                    pending.append((node.parts[0], tables[edge.target]?.links, way + [edge]))
                }
            case .aggregate(let column, _, let of, _, _):
                if let of, let edge = links?.edge(column) { body(way + [edge], 1 << UInt64(of)) }
            case .all, .none, .column, .identity: continue
            }
        }
    }
}

extension TreeKey {
    /// Calls `body` with each path to other rows that membership or order depends on, and the columns read there.
    func forEachUse(_ links: TableLinks?, _ tables: [UInt32: Table], _ body: ([LinkEdge], UInt64) -> Void) {
        for condition in residual { condition.forEachUse(links, tables, body) }
        for term in sort {
            guard let over = term.over else { continue }
            var links = links
            var way: [LinkEdge] = []
            for (link, next) in zip(over.links, over.links.dropFirst() + [term.column]) {
                guard let edge = links?.edge(link) else { break }
                way.append(edge)
                body(way, 1 << UInt64(next))
                links = tables[edge.target]?.links
            }
        }
    }
}
