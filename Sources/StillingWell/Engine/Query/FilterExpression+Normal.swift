// Normal form of filters, so that equivalent typed or textual filters share a plan. Finds simple equivalences, not
// every one.

extension FilterExpression {
    /// Equivalent filter with flat conjunctions and disjunctions, without neutral parts, double negations, negated
    /// equalities or lists of one value. O(all parts), unless conjunctions and disjunctions are nested alternately.
    var normalized: FilterExpression {
        guard case .node = self else { return normalLeaf }
        return folded(
            0,
            inner: { node, _ in
                // Flattened at once: level by level, flattened parts would be visited again at each further level.
                let isJoin = node.kind == .and || node.kind == .or
                return (isJoin ? FilterNode.flattened(node.parts, node.kind) : node.parts, 0)
            },
            leaf: { part, _ in part.normalLeaf },
            join: { node, _, parts in
                switch node.kind {
                case .and: Self.joined(parts, .and, neutral: .all, deciding: .none)
                case .or: Self.joined(parts, .or, neutral: .none, deciding: .all)
                case .not: parts[0].negated
                // If no object passes, no link leads to one that does.
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
        if kind == .or { flat = withoutRepeatedColumns(flat) }
        return flat.isEmpty ? neutral : flat.count == 1 ? flat[0] : .node(FilterNode(kind, flat))
    }

    /// Replaces all equalities and lists of values of one column in a disjunction by one list, at the first one's place.
    private static func withoutRepeatedColumns(_ parts: [FilterExpression]) -> [FilterExpression] {
        var values: [Int: [ColumnValue]] = [:]
        for case .column(let column, let test, _) in parts { values[column, default: []] += test.values ?? [] }
        var listed: Set<Int> = []
        return parts.compactMap { part in
            guard case .column(let column, let test, let isOptional) = part, let own = test.values,
                let all = values[column], all.count > own.count
            else { return part }
            guard listed.insert(column).inserted else { return nil }
            return .column(column, .oneOf(ValueSet(all)), isOptional: isOptional)
        }
    }

    /// Negation of a normal expression.
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
