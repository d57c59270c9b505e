// Converts filters of model classes to stored tables: columns become stored columns, and objects of the queried store
// and class become ids.

extension FilterExpression {
    /// Maximum number of consecutive links and lists in a filter, because each takes stack when a row is tested.
    static let maxLinkDepth = 100
}

extension TableLayout {
    /// Layout at a place in a filter; nil for elements of a list of values, which no class describes.
    private struct Place: Hashable {
        let layout: TableLayout?

        static func == (left: Place, right: Place) -> Bool { left.layout === right.layout }
        func hash(into hasher: inout Hasher) { hasher.combine(layout.map { ObjectIdentifier($0) }) }
    }

    /// Converts a filter. O(1) if columns have their own numbers and no object is named, otherwise O(all parts).
    /// - Parameter path: path with which the program has opened `storage`.
    /// - Throws: `otherStore`, `otherClass`, `filterTooDeep`.
    func stored(
        _ filter: FilterExpression, in storage: Storage, openedAs path: String
    ) throws(StoreError) -> FilterExpression {
        guard filter.linkDepth <= FilterExpression.maxLinkDepth else {
            throw .filterTooDeep(links: filter.linkDepth, limit: FilterExpression.maxLinkDepth)
        }
        if areAllDirect, !filter.namesObjects { return filter }
        return try filter.folded(
            Place(layout: self),
            inner: { node, place throws(StoreError) in
                switch node.kind {
                case .and, .or, .not: return (node.parts, place)
                case .linked(let ordinal), .quantified(let ordinal, _):
                    return (node.parts, Place(layout: place.layout?.target(ordinal)))
                case .naming(let home):
                    guard let layout = place.layout else { return (node.parts, place) }
                    guard home.storage === storage else { throw .otherStore(path: home.path, used: path) }
                    try layout.check(home, node.parts[0])
                    return (node.parts, place)
                }
            },
            leaf: { leaf, place throws(StoreError) in place.layout?.renumbered(leaf) ?? leaf },
            join: { node, place, parts throws(StoreError) in
                guard let layout = place.layout else { return .node(FilterNode(node.kind, parts)) }
                switch node.kind {
                case .and, .or, .not: return .node(FilterNode(node.kind, parts))
                case .linked(let ordinal): return .linked(column: layout.column(ordinal), parts[0])
                case .quantified(let ordinal, let quantifier):
                    return .quantified(column: layout.column(ordinal), quantifier, parts[0])
                case .naming: return parts[0]
                }
            })
    }

    /// Throws for an object that is not of this class, or that a link or list of this class cannot refer to.
    private func check(_ home: ObjectHome, _ condition: FilterExpression) throws(StoreError) {
        var expected = name
        if case .column(let ordinal, .compare, _) = condition, let target = targetName(ordinal) { expected = target }
        guard home.type == expected else { throw .otherClass(type: home.type, expected: expected) }
    }

    private func renumbered(_ leaf: FilterExpression) -> FilterExpression {
        switch leaf {
        case .all, .none, .identity, .node: leaf
        case .column(let ordinal, let test, let isOptional): .column(column(ordinal), test, isOptional: isOptional)
        case .aggregate(let ordinal, let aggregate, let of, let comparison, let value):
            .aggregate(
                column: column(ordinal), aggregate, of: of.map { target(ordinal)?.column($0) ?? $0 }, comparison, value)
        }
    }
}
