// A filter of model classes, said of the stored tables: columns by their places there, and objects that have been found to
// be of the store and the class that are asked, which from then on are numbers.

extension FilterExpression {
    /// How many links and lists may be looked over, one behind the other: each takes stack when a row is asked.
    static let maxLinkDepth = 100
}

extension TableLayout {
    /// The layout that holds at a place in a filter; nil for the elements of a list of values, which no class describes.
    private struct Place: Hashable {
        let layout: TableLayout?

        static func == (left: Place, right: Place) -> Bool { left.layout === right.layout }
        func hash(into hasher: inout Hasher) { hasher.combine(layout.map { ObjectIdentifier($0) }) }
    }

    /// O(1) where columns have their places and no object is named, otherwise O(all parts).
    /// - Parameter path: that of `storage`, as the program has opened it.
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

    /// Refuses an object that a link or list of this class cannot lead to, or that is no object of it.
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
