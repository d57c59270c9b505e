// One form for filters that say the same, so that they share a plan however they were written: typed or as text, with
// parentheses or without. It finds what is easy to find, not every equivalence.

extension FilterExpression {
    /// Nested conjunctions and disjunctions flat, without parts that decide nothing; a double negation gone; a negated
    /// (in)equality turned; a list of one value an equality. Passes the same rows.
    var normalized: FilterExpression {
        switch self {
        case .and(let parts):
            Self.joined(parts, neutral: .all, deciding: .none, FilterExpression.and) {
                if case .and(let inner) = $0 { inner } else { nil }
            }
        case .or(let parts):
            Self.joined(parts, neutral: .none, deciding: .all, FilterExpression.or) {
                if case .or(let inner) = $0 { inner } else { nil }
            }
        case .not(let part): part.normalized.negated
        case .oneOf(let column, let values, let isOptional):
            switch values.count {
            case 0: .none
            case 1: .compare(column: column, .equal, values.first!, isOptional: isOptional)
            default: self
            }
        case .compare(_, .less, .null, _), .compare(_, .lessOrEqual, .null, _), .compare(_, .greater, .null, _),
            .compare(_, .greaterOrEqual, .null, _), .compare(_, .equal, .null, false):
            .none
        case .compare(_, .notEqual, .null, false): .all
        case .linked(let column, let condition): Self.over(condition) { .linked(column: column, $0) }
        case .quantified(let column, .any, let condition):
            Self.over(condition) { .quantified(column: column, .any, $0) }
        case .quantified(let column, let quantifier, let condition):
            .quantified(column: column, quantifier, condition.normalized)
        default: self
        }
    }

    /// What nothing passes, nothing leads to.
    private static func over(
        _ condition: FilterExpression, _ wrap: (FilterExpression) -> FilterExpression
    ) -> FilterExpression {
        let condition = condition.normalized
        return condition == .none ? .none : wrap(condition)
    }

    private static func joined(
        _ parts: [FilterExpression], neutral: FilterExpression, deciding: FilterExpression,
        _ join: ([FilterExpression]) -> FilterExpression, inner: (FilterExpression) -> [FilterExpression]?
    ) -> FilterExpression {
        var flat: [FilterExpression] = []
        var seen: Set<FilterExpression> = []
        for part in parts {
            let part = part.normalized
            for each in inner(part) ?? [part] where each != neutral {
                if each == deciding { return deciding }
                if seen.insert(each).inserted { flat.append(each) }
            }
        }
        return flat.isEmpty ? neutral : flat.count == 1 ? flat[0] : join(flat)
    }

    /// The opposite of a normal expression. Only equality has an opposite comparison: null and not a number are in no
    /// order, so they pass neither `<` nor `>=`.
    private var negated: FilterExpression {
        switch self {
        case .all: .none
        case .none: .all
        case .not(let part): part
        case .compare(let column, .equal, let value, let isOptional):
            .compare(column: column, .notEqual, value, isOptional: isOptional)
        case .compare(let column, .notEqual, let value, let isOptional):
            .compare(column: column, .equal, value, isOptional: isOptional)
        default: .not(self)
        }
    }
}
