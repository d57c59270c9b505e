// Property named by a key path, on the object itself or over links: `\Dog.owner?.name` is the columns of `owner` and
// `name`.

/// Columns from a class to a property. All but the last are links or lists. Any thread.
struct ColumnPath: Sendable, Hashable {
    let columns: [Int]

    /// The property itself, a column of the class that the links lead to.
    var column: Int { columns[columns.count - 1] }
    /// Links and lists that lead to the property.
    var links: ArraySlice<Int> { columns.dropLast() }

    init(_ columns: [Int]) { self.columns = columns }
}
