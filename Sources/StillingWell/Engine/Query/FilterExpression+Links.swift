// Filters over links without their Swift types: how a condition at the end of a path is put together, and which rows of
// other tables a filter or an order reads.

extension FilterExpression {
    /// A condition on what a path of links leads to.
    /// - Parameter passesMissing: whether a row passes whose path ends early, as null would.
    static func along(_ links: ArraySlice<Int>, _ condition: FilterExpression, passesMissing: Bool = false)
        -> Self
    {
        guard !links.isEmpty else { return condition }
        if passesMissing { return .not(along(links, .not(condition))) }
        return links.reversed().reduce(condition) { .linked(column: $1, $0) }
    }

    /// A property, or one over links, compared with a constant. A path that ends early reads as null.
    static func compare(_ path: ColumnPath, _ comparison: Comparison, _ value: ColumnValue, isOptional: Bool)
        -> Self
    {
        let admitsNull = (comparison == .equal) == (value == .null) && [.equal, .notEqual].contains(comparison)
        return along(
            path.links, .compare(column: path.column, comparison, value, isOptional: isOptional),
            passesMissing: admitsNull)
    }

    /// Calls `body` with each way to rows of other tables that the filter reads, and the columns it reads there.
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
    /// Calls `body` with each way to rows of other tables that membership or order depends on, and the columns read there.
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
