// A property as a key path names it, on the object itself or over links: `\Dog.owner?.name` is the columns of `owner`
// and `name`.

/// Columns from a class to a property: all but the last are links or lists. Any thread.
public struct ColumnPath: Sendable, Hashable {
    let columns: [Int]

    /// The property itself, a column of the class that the links lead to.
    var column: Int { columns[columns.count - 1] }
    /// What leads there.
    var links: ArraySlice<Int> { columns.dropLast() }

    init(_ columns: [Int]) { self.columns = columns }
}
