// Filters over links without their Swift types: how a condition at the end of a path is put together, and which rows of
// other tables a filter or an order reads.

extension FilterExpression {
    /// A condition on what a path of links leads to.
    /// - Parameter passesMissing: whether a row passes whose path ends early, as null would.
    static func along(_ links: ArraySlice<Int>, _ condition: FilterExpression, passesMissing: Bool = false) -> Self {
        guard !links.isEmpty else { return condition }
        if passesMissing { return .not(along(links, .not(condition))) }
        return links.reversed().reduce(condition) { .linked(column: $1, $0) }
    }

    /// A property, or one over links, compared with a constant. A path that ends early reads as null.
    static func compare(_ path: ColumnPath, _ comparison: Comparison, _ value: ColumnValue, isOptional: Bool) -> Self {
        let admitsNull = (comparison == .equal) == (value == .null) && [.equal, .notEqual].contains(comparison)
        return along(
            path.links, .compare(column: path.column, comparison, value, isOptional: isOptional),
            passesMissing: admitsNull)
    }

    /// Whether the filter looks beyond the row, and so needs a `Reach`.
    var needsReach: Bool {
        switch self {
        case .identity, .linked, .quantified, .aggregate: true
        case .and(let parts), .or(let parts): parts.contains(where: \.needsReach)
        case .not(let part): part.needsReach
        default: false
        }
    }

    /// Columns of the row itself that decide; all where that is not known.
    var ownColumns: UInt64 {
        switch self {
        case .all, .none, .identity: 0
        case .compare(let column, _, _, _), .oneOf(let column, _, _), .linked(let column, _),
            .quantified(let column, _, _), .aggregate(let column, _, _, _, _), .text(let column, _, _):
            1 << UInt64(column)
        case .and(let parts), .or(let parts): parts.reduce(0) { $0 | $1.ownColumns }
        case .not(let part): part.ownColumns
        }
    }

    /// Calls `body` with each way to rows of other tables that the filter reads, and the columns it reads there.
    func forEachUse(
        _ links: TableLinks?, _ tables: [UInt32: Table], _ way: [LinkEdge] = [], _ body: ([LinkEdge], UInt64) -> Void
    ) {
        switch self {
        case .and(let parts), .or(let parts): for part in parts { part.forEachUse(links, tables, way, body) }
        case .not(let part): part.forEachUse(links, tables, way, body)
        case .linked(let column, let condition), .quantified(let column, _, let condition):
            guard let edge = links?.edge(column) else { return }
            body(way + [edge], condition.ownColumns)
            condition.forEachUse(tables[edge.target]?.links, tables, way + [edge], body)
        case .aggregate(let column, _, let of?, _, _):
            if let edge = links?.edge(column) { body(way + [edge], 1 << UInt64(of)) }
        default: return
        }
    }
}

extension TreeKey {
    /// Calls `body` with each way to rows of other tables that membership or order depends on, and the columns read there.
    func forEachUse(_ links: TableLinks?, _ tables: [UInt32: Table], _ body: ([LinkEdge], UInt64) -> Void) {
        for condition in residual { condition.forEachUse(links, tables, [], body) }
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

extension [FilterExpression] {
    /// Whether a row passes all.
    func allMatch(_ row: RowReader, _ reach: Reach?) -> Bool { allSatisfy { $0.matches(row, reach) } }
}
