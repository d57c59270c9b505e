// Queries given as text, in Realm's form:
//
//     items.where("score > 50 AND done == false SORT(score DESC, title) DISTINCT(group) LIMIT(10)")
//     items.where("due < $0 AND name BEGINSWITH[c] $1", Date(), prefix)

extension Results {
    /// Returns the objects that also pass a condition given as text, in the order and with the limits it requests.
    /// Equal to the same calls of `where`, `sorted(by:ascending:)`, `distinct` and `limited`, and the same live query.
    /// The keys of `SORT` are as calls from the last to the first.
    ///
    /// Keywords include `AND`, `OR`, `NOT`, `IN`, `BETWEEN`, `CONTAINS`, `BEGINSWITH`, `ENDSWITH`, `LIKE`, `ANY`,
    /// `ALL`, `NONE`, `SELF`, `TRUE`, `FALSE`, `NULL`, and at the end `SORT(…)`, `DISTINCT(…)`, `LIMIT(…)`. `[c]` after
    /// an operator on text ignores case. See <doc:AskingQueries> for examples.
    ///
    /// Property names are case-sensitive, keywords are not. A property named like a keyword is written in backquotes.
    /// `$0`, `$1`, … are the arguments. On the connection's scheduler. O(length of the text).
    /// - Throws: `invalidQuery` with the position and what was expected there.
    public func `where`(_ text: String, _ arguments: (any QueryArgument)?...) throws -> Results {
        try refined(by: text, arguments)
    }

    func refined(by text: String, _ arguments: [(any QueryArgument)?]) throws -> Results {
        let tables = connection.core.storage.tablesByID.values
        let query = try QueryParser.parse(
            text, table.schema, arguments.map { $0?._queryArgument ?? .value(.null) },
            tables: { name in tables.first { $0.schema.name == name }?.schema },
            isFloat: { [connection] in connection.store.isFloat($0, $1) },
            reasonAgainst: { [connection] home in
                home.storage === connection.core.storage ? nil : "\(connection.otherStore(home.path))"
            })
        return refined { asked in
            asked.filter = asked.filter.and(query.filter)
            asked.sort = query.sort + asked.sort.filter { term in !query.sort.contains { $0.hasColumn(of: term) } }
            asked.distinct = query.distinct ?? asked.distinct
            if let limit = query.limit { asked.limit = Swift.min(limit, asked.limit ?? limit) }
        }
    }
}

extension Store {
    /// Returns whether a column has values of type `Float`: a property of a model, or the elements of a list.
    fileprivate func isFloat(_ table: TableSchema, _ column: Int) -> Bool {
        guard table.columns[column].type == .double else { return false }
        for layout in configuration.models.map({ ModelLayout.of($0) }) {
            if layout.typeName == table.name {
                return layout.properties.first { $0.name == table.columns[column].name }?.wrapper.isFloat ?? false
            }
            for property in layout.properties {
                guard let element = property.wrapper.element else { continue }
                if ListTable.name(layout.typeName, property.name) == table.name { return element.isFloat }
            }
        }
        return false
    }
}

extension Filter: CustomStringConvertible {
    /// The condition as text. Values without a text form are written as `$0`, `$1`, ….
    public var description: String {
        var printer = QueryPrinter(.init(ModelLayout.of(Object.self)))
        return printer.print(expression)
    }
}

/// Lets links and lists be compared with a stored object of the queried store. An object that is not stored equals no
/// link.
extension StoredObject: QueryArgument {
    public var _queryArgument: _QueryArgumentValue {
        .object(ObjectArgument(id: objectID ?? .none, type: "\(type(of: self))", home: binding?.home))
    }
}
