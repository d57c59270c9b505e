// Filters without their Swift types, as built by `Filter`. They are normalised, indexed, and evaluated on rows. Strings
// and data compare as bytes. Null equals null, has no order, and differs from every value. A non-optional column is
// never null: if a row is older than the column, it compares as zero.
//
// A program may build filters in loops, so they can be arbitrarily deep. Code that traverses one keeps its own stack
// and recurses at most over links, whose number is bounded. `FilterProgram` evaluates them.

enum FilterExpression: Sendable, Hashable {
    case all
    case none
    /// Test of a column of the row itself.
    indirect case column(Int, ColumnTest, isOptional: Bool)
    /// Whether the row is this object's.
    case identity(ObjectID)
    /// Comparison of a list's aggregate: its count, or an aggregate of a column of its objects. If `of` is nil, of its
    /// values.
    indirect case aggregate(column: Int, Aggregate, of: Int?, Comparison, ColumnValue)
    /// Combination of other filters.
    case node(FilterNode)

    static func compare(
        column: Int, _ comparison: Comparison, _ value: ColumnValue, isOptional: Bool = false
    ) -> Self { .column(column, .compare(comparison, value), isOptional: isOptional) }

    static func and(_ parts: [FilterExpression]) -> Self { .node(FilterNode(.and, parts)) }

    static func or(_ parts: [FilterExpression]) -> Self { .node(FilterNode(.or, parts)) }

    /// Negation. The negation of a negation is the inner filter.
    static func not(_ part: FilterExpression) -> Self {
        if case .node(let node) = part, node.kind == .not { return node.parts[0] }
        return .node(FilterNode(.not, [part]))
    }

    /// Whether a link leads to an object that passes.
    static func linked(column: Int, _ condition: FilterExpression) -> Self {
        .node(FilterNode(.linked(column: column), [condition]))
    }

    /// Whether enough elements of a list pass: the objects of a list of links, or the rows of a list of values, with
    /// the value in column `ListTable.value`. A link counts as a list of at most one.
    static func quantified(column: Int, _ quantifier: Quantifier, _ condition: FilterExpression) -> Self {
        .node(FilterNode(.quantified(column: column, quantifier), [condition]))
    }

    /// Condition with the id of an object, valid only in the object's store and class. Conversion for a table replaces
    /// it by `condition`.
    static func naming(_ home: ObjectHome, _ condition: FilterExpression) -> Self {
        .node(FilterNode(.naming(home), [condition]))
    }

    /// Returns whether a row passes. For many rows, make a `FilterProgram` once.
    func matches(_ row: RowReader, _ reach: Reach? = nil) -> Bool { FilterProgram(self).matches(row, reach) }

    /// Parts that must all hold. Nested conjunctions are flattened and `all` is removed; `none` stays.
    var conjuncts: [FilterExpression] {
        switch self {
        case .all: []
        case .none, .identity, .column, .aggregate: [self]
        case .node: FilterNode.flattened([self], .and).filter { $0 != .all }
        }
    }

    func and(_ other: FilterExpression) -> FilterExpression {
        if case .all = self { return other }
        return .and([self, other])
    }

    /// Whether the filter needs a `Reach`, because it reads other rows or the row's id.
    var needsReach: Bool {
        switch self {
        case .identity, .aggregate: true
        case .node(let node): node.needsReach
        case .all, .none, .column: false
        }
    }

    /// Columns of the row itself that the filter reads.
    var ownColumns: UInt64 {
        switch self {
        case .all, .none, .identity: 0
        case .column(let column, _, _), .aggregate(let column, _, _, _, _): 1 << UInt64(column)
        case .node(let node): node.ownColumns
        }
    }

    /// Maximum number of consecutive links or lists in the filter.
    var linkDepth: Int { if case .node(let node) = self { node.linkDepth } else { 0 } }

    /// Whether the filter has an object that has not been checked to belong to the queried store and class.
    var namesObjects: Bool { if case .node(let node) = self { node.namesObjects } else { false } }
}
