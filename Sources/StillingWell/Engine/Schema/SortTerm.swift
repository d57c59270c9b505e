// Terms of a sort order.

/// One column of an order.
struct SortTerm: Sendable, Hashable {
    /// Column of the row itself, or of the row that the links lead to.
    var column: Int
    var ascending: Bool
    /// Path of links to the column; nil for a column of the row itself.
    var over: LinkedColumn?

    init(column: Int, ascending: Bool, over: LinkedColumn? = nil) {
        self.column = column
        self.ascending = ascending
        self.over = over
    }

    /// The column of the row itself: `column`, or the first link.
    var ownColumn: Int { over?.links[0] ?? column }

    /// Whether both have the same column, in any direction.
    func hasColumn(of other: SortTerm) -> Bool { column == other.column && over == other.over }
}

/// A column at the end of a path of links, with its type there.
struct LinkedColumn: Sendable, Hashable {
    /// Links of the path, at least one.
    var links: [Int]
    var type: ColumnType
    var isOptional: Bool

    init(links: [Int], type: ColumnType, isOptional: Bool) {
        self.links = links
        self.type = type
        self.isOptional = isOptional
    }
}
