// One form for filters that say the same, so that they share a plan however they were written: typed or as text, with
// parentheses or without. It finds what is easy to find, not every equivalence.

extension FilterExpression {
    /// Nested conjunctions and disjunctions flat, without parts that decide nothing; a double negation gone; a negated
    /// (in)equality turned; a list of one value an equality. Passes the same rows. O(all parts), where nothing but
    /// conjunctions stands between conjunctions, and so with disjunctions.
    var normalized: FilterExpression {
        guard case .node = self else { return normalLeaf }
        return folded(
            0,
            inner: { node, _ in
                // Taken together: what one level at a time has made flat would be gone through again at each further one.
                let isJoin = node.kind == .and || node.kind == .or
                return (isJoin ? FilterNode.flattened(node.parts, node.kind) : node.parts, 0)
            },
            leaf: { part, _ in part.normalLeaf },
            join: { node, _, parts in
                switch node.kind {
                case .and: Self.joined(parts, .and, neutral: .all, deciding: .none)
                case .or: Self.joined(parts, .or, neutral: .none, deciding: .all)
                case .not: parts[0].negated
                // What nothing passes, nothing leads to.
                case .linked, .quantified(_, .any): parts[0] == .none ? .none : .node(FilterNode(node.kind, parts))
                case .quantified, .naming: .node(FilterNode(node.kind, parts))
                }
            })
    }

    private var normalLeaf: FilterExpression {
        if case .column(let column, let test, let isOptional) = self {
            test.normal(column, isOptional: isOptional)
        } else {
            self
        }
    }

    private static func joined(
        _ parts: [FilterExpression], _ kind: FilterNode.Kind, neutral: FilterExpression, deciding: FilterExpression
    ) -> FilterExpression {
        var flat: [FilterExpression] = []
        var seen: Set<FilterExpression> = []
        for part in FilterNode.flattened(parts, kind) where part != neutral {
            if part == deciding { return deciding }
            if seen.insert(part).inserted { flat.append(part) }
        }
        return flat.isEmpty ? neutral : flat.count == 1 ? flat[0] : .node(FilterNode(kind, flat))
    }

    /// The opposite of a normal expression.
    private var negated: FilterExpression {
        switch self {
        case .all: .none
        case .none: .all
        case .column(let column, let test, let isOptional):
            test.opposite.map { .column(column, $0, isOptional: isOptional) } ?? .not(self)
        case .identity, .aggregate, .node: .not(self)
        }
    }
}
