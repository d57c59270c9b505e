// What a query's text may name: properties of the queried class.

/// A property, and where the text names it.
struct QueryPath {
    let offset: Int
    let table: TableSchema
    let column: Int

    var schema: ColumnSchema { table.columns[column] }
    var name: String { "'\(schema.name)' of \(table.name)" }
}

extension ColumnType {
    /// With its article, for sentences.
    var described: String {
        switch self {
        case .int: "an integer"
        case .double: "a number"
        case .bool: "true or false"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        }
    }
}
