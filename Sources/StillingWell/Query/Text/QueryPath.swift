// What a query's text may name: a property of the queried class, or one that links and lists lead to.

struct QueryPath {
    /// A list on the way, and the links that lead to it from the list before.
    struct ListStep {
        var links: [Int]
        var column: Int
    }

    enum End {
        case column(Int)
        /// What the last list holds: objects.
        case object
        /// What a list, or link, of `table` comes to.
        case aggregate(column: Int, Aggregate, of: Int?)
        /// Whatever passes a condition of its own.
        case condition(FilterExpression)
    }

    let offset: Int
    let name: String
    var lists: [ListStep] = []
    var links: [Int] = []
    var table: TableSchema
    var end: End
    var quantifier = Quantifier.any

    /// - Throws: where the path ends at something else.
    func column() throws(QueryTextFault) -> (column: Int, schema: ColumnSchema) {
        guard case .column(let column) = end else {
            throw QueryTextFault(offset, "\(name) is no property that has a value: name one")
        }
        return (column, table.columns[column])
    }

    /// A condition on the end, as one on the row that the path starts at.
    /// - Parameter passesMissing: whether a path passes that ends early, as null would.
    func along(_ condition: FilterExpression, passesMissing: Bool = false) -> FilterExpression {
        var result = FilterExpression.along(links[...], condition, passesMissing: passesMissing)
        for (index, list) in lists.enumerated().reversed() {
            // Of lists behind a list: none of all their elements is none that has any.
            let quantifier = index > 0 && quantifier == .none ? .any : quantifier
            result = .along(list.links[...], .quantified(column: list.column, quantifier, result))
        }
        return result
    }
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
        case .link: "a link"
        case .list: "a list"
        }
    }
}
