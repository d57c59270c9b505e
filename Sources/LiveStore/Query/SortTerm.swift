// What an order goes by.

/// One column of an order.
struct SortTerm: Sendable, Hashable {
    /// Of the row itself, or of the one that links lead to from there.
    var column: Int
    var ascending: Bool
    /// nil for a column of the row itself.
    var over: LinkedColumn?

    /// Whether both are the same column, in whatever direction.
    func hasColumn(of other: SortTerm) -> Bool { column == other.column && over == other.over }
}

/// A column at the end of a way over links: what the table that the way starts at does not know of it.
struct LinkedColumn: Sendable, Hashable {
    /// Never empty.
    var links: [Int]
    var type: ColumnType
    var isOptional: Bool
}
