// What an order goes by.

/// One column of an order.
struct SortTerm: Sendable, Hashable {
    /// Of the row itself, or of the one that links lead to from there.
    var column: Int
    var ascending: Bool
    /// nil for a column of the row itself.
    var over: LinkedColumn?

    init(column: Int, ascending: Bool, over: LinkedColumn? = nil) {
        self.column = column
        self.ascending = ascending
        self.over = over
    }

    /// The column of the row itself that it is or leads over.
    var ownColumn: Int { over?.links[0] ?? column }

    /// Whether both are the same column, in whatever direction.
    func hasColumn(of other: SortTerm) -> Bool { column == other.column && over == other.over }
}

/// A column at the end of a way over links: what the table that the way starts at does not know of it.
struct LinkedColumn: Sendable, Hashable {
    /// Never empty.
    var links: [Int]
    var type: ColumnType
    var isOptional: Bool

    init(links: [Int], type: ColumnType, isOptional: Bool) {
        self.links = links
        self.type = type
        self.isOptional = isOptional
    }
}
