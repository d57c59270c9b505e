// A filter without its Swift types: what `Filter` builds, what is normalised, indexed and evaluated on rows.
// Strings and data compare as bytes. Null equals null, is in no order, and differs from every value. A column that is
// not optional is never null: where a row is older than the column, it compares as the zero that its property reads.
//
// A program may put filters together in loops, so they are as deep as they are long: whatever goes through one keeps its
// own stack, and none calls itself for a part. Evaluation is FilterProgram's.

enum FilterExpression: Sendable, Hashable {
    case all
    case none
    /// A column of the row itself.
    indirect case column(Int, ColumnTest, isOptional: Bool)
    /// The row is this object's.
    case identity(ObjectID)
    /// What a list comes to: how many there are, or the sum and so on of a column of its objects; where `of` is nil,
    /// of its values.
    indirect case aggregate(column: Int, Aggregate, of: Int?, Comparison, ColumnValue)
    /// Is made of other filters.
    case node(FilterNode)

    static func compare(
        column: Int, _ comparison: Comparison, _ value: ColumnValue, isOptional: Bool = false
    ) -> Self { .column(column, .compare(comparison, value), isOptional: isOptional) }

    static func and(_ parts: [FilterExpression]) -> Self { .node(FilterNode(.and, parts)) }

    static func or(_ parts: [FilterExpression]) -> Self { .node(FilterNode(.or, parts)) }

    /// The opposite; that of an opposite is the filter itself.
    static func not(_ part: FilterExpression) -> Self {
        if case .node(let node) = part, node.kind == .not { return node.parts[0] }
        return .node(FilterNode(.not, [part]))
    }

    /// The link leads somewhere, and what it leads to passes.
    static func linked(column: Int, _ condition: FilterExpression) -> Self {
        .node(FilterNode(.linked(column: column), [condition]))
    }

    /// So many of a list pass: the objects of a list of links; of a list of values, the rows that hold them in column
    /// `ListTable.value`. A link counts as a list of at most one.
    static func quantified(column: Int, _ quantifier: Quantifier, _ condition: FilterExpression) -> Self {
        .node(FilterNode(.quantified(column: column, quantifier), [condition]))
    }

    /// A condition with the id of an object, which means that object in its own store and its own class only. Once it is
    /// asked of a store's table it is `condition` and no more.
    static func naming(_ home: ObjectHome, _ condition: FilterExpression) -> Self {
        .node(FilterNode(.naming(home), [condition]))
    }

    /// Whether a row passes. For many rows, make a `FilterProgram` once.
    func matches(_ row: RowReader, _ reach: Reach? = nil) -> Bool { FilterProgram(self).matches(row, reach) }

    /// The parts that must all hold. Nested conjunctions are one, `all` is no part; `none` stays.
    var conjuncts: [FilterExpression] {
        switch self {
        case .all: []
        case .none, .identity, .column, .aggregate: [self]
        case .node: FilterNode.flattened([self], .and).filter { $0 != .all }
        }
    }

    /// What passes both.
    func and(_ other: FilterExpression) -> FilterExpression {
        if case .all = self { return other }
        return .and([self, other])
    }

    /// Whether the filter looks beyond the row, and so needs a `Reach`.
    var needsReach: Bool {
        switch self {
        case .identity, .aggregate: true
        case .node(let node): node.needsReach
        case .all, .none, .column: false
        }
    }

    /// Columns of the row itself that decide.
    var ownColumns: UInt64 {
        switch self {
        case .all, .none, .identity: 0
        case .column(let column, _, _), .aggregate(let column, _, _, _, _): 1 << UInt64(column)
        case .node(let node): node.ownColumns
        }
    }

    /// Over how many links or lists the filter looks, one behind the other.
    var linkDepth: Int { if case .node(let node) = self { node.linkDepth } else { 0 } }

    /// Whether there is an object in it that has not been found to be of the store and the class that are asked.
    var namesObjects: Bool { if case .node(let node) = self { node.namesObjects } else { false } }
}
