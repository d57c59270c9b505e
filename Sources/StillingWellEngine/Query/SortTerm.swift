// What an order goes by.

/// One column of an order.
package struct SortTerm: Sendable, Hashable {
    /// Of the row itself, or of the one that links lead to from there.
    package var column: Int
    package var ascending: Bool
    /// nil for a column of the row itself.
    package var over: LinkedColumn?

    package init(column: Int, ascending: Bool, over: LinkedColumn? = nil) {
        self.column = column
        self.ascending = ascending
        self.over = over
    }

    /// The column of the row itself that it is or leads over.
    package var ownColumn: Int { over?.links[0] ?? column }

    /// Whether both are the same column, in whatever direction.
    package func hasColumn(of other: SortTerm) -> Bool { column == other.column && over == other.over }
}

/// A column at the end of a way over links: what the table that the way starts at does not know of it.
package struct LinkedColumn: Sendable, Hashable {
    /// Never empty.
    package var links: [Int]
    package var type: ColumnType
    package var isOptional: Bool

    package init(links: [Int], type: ColumnType, isOptional: Bool) {
        self.links = links
        self.type = type
        self.isOptional = isOptional
    }
}
