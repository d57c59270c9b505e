// A path in the text of a query: a property of the queried class, or one reached over links and lists.

struct QueryPath {
    /// A list on the path, and the links that lead to it from the previous list, or from the start.
    struct ListStep {
        var links: [Int]
        var column: Int
    }

    enum End {
        case column(Int)
        /// The objects of the last list.
        case object
        /// An aggregate over a list, or link, of `table`.
        case aggregate(column: Int, Aggregate, of: Int?)
        /// A condition on the objects at the end of the path.
        case condition(FilterExpression)
    }

    let offset: Int
    let name: String
    var lists: [ListStep] = []
    var links: [Int] = []
    var table: TableSchema
    var end: End
    var quantifier = Quantifier.any

    /// - Throws: `QueryTextFault` if the path does not end at a column.
    func column() throws(QueryTextFault) -> (column: Int, schema: ColumnSchema) {
        guard case .column(let column) = end else {
            throw QueryTextFault(offset, "\(name) is no property that has a value: name one")
        }
        return (column, table.columns[column])
    }

    /// Returns a condition on the path's end as one on the row where the path starts.
    /// - Parameter passesMissing: whether a path with a null link behind its last list passes, as null would.
    func along(_ condition: FilterExpression, passesMissing: Bool = false) -> FilterExpression {
        var result = FilterExpression.along(links[...], condition, passesMissing: passesMissing)
        for (index, list) in lists.enumerated().reversed() {
            // NONE over nested lists is negated at the outermost list only; the inner ones use ANY.
            let quantifier = index > 0 && quantifier == .none ? .any : quantifier
            result = .along(list.links[...], .quantified(column: list.column, quantifier, result))
        }
        return result
    }
}

extension ColumnType {
    /// Name with its article, for sentences.
    var described: String {
        switch self {
        case .int: "an integer"
        case .double: "a number"
        case .bool: "true or false"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        case .link: "a link"
        case .list: "a list"
        }
    }
}
