// Paths of a query's text, such as `owner.name`, `friends.@sum.age` and `owner.(age > 3 AND name == "x")`.
import StillingWellBasis

extension QueryParser {
    private static let maxSteps = 32

    private static let aggregates: [String: Aggregate] = [
        "count": .count, "size": .count, "sum": .sum, "min": .min, "max": .max, "avg": .average,
    ]

    /// Parses a property of the queried class that is no link and no list.
    mutating func ownProperty() throws(QueryTextFault) -> Int {
        let offset = tokens.current.offset
        let column = try name(in: table)
        let schema = table.columns[column]
        guard schema.type != .link, schema.type != .list else {
            throw QueryTextFault(
                offset, "'\(schema.name)' of \(table.name) is \(schema.type.described): name a property with a value")
        }
        return column
    }

    mutating func sortedProperty() throws(QueryTextFault) -> SortTerm {
        let path = try path()
        guard case .column(let column) = path.end, path.lists.isEmpty else {
            throw QueryTextFault(
                path.offset, "\(path.name) is a list, or reached over one: name a property with a value")
        }
        let schema = path.table.columns[column]
        guard schema.type != .link, schema.type != .list else {
            throw QueryTextFault(path.offset, "\(path.name) is \(schema.type.described): name a property with a value")
        }
        let over = LinkedColumn(links: path.links, type: schema.type, isOptional: schema.isOptional)
        return SortTerm(column: column, ascending: true, over: path.links.isEmpty ? nil : over)
    }

    private mutating func name(in table: TableSchema) throws(QueryTextFault) -> Int {
        guard case .word(let name, let isQuoted) = tokens.current.kind, isQuoted || tokens.keyword == nil else {
            throw tokens.fault("expected a property of \(table.name), found \(tokens.current.described)")
        }
        guard let column = table.columns.firstIndex(where: { $0.name == name && !$0.isGone }) else {
            let near = Spelling.nearest(to: name, among: table.visibleNames)
            let hint = near.map { " (did you mean '\($0)'?)" } ?? ""
            throw tokens.fault("\(table.name) has no property '\(name.prefix(60))'\(hint)")
        }
        tokens.advance()
        return column
    }

    mutating func path(_ quantifier: Quantifier = .any) throws(QueryTextFault) -> QueryPath {
        let offset = tokens.current.offset
        var table = table
        var lists: [QueryPath.ListStep] = []
        var links: [Int] = []
        var steps = 0
        while true {
            let place = tokens.current.offset
            let column = try name(in: table)
            let schema = table.columns[column]
            func path(_ table: TableSchema, _ end: QueryPath.End) -> QueryPath {
                QueryPath(
                    offset: place, name: "'\(schema.name)' of \(table.name)", lists: lists, links: links, table: table,
                    end: end, quantifier: quantifier)
            }
            guard tokens.take(".") else {
                guard schema.type == .list else { return path(table, .column(column)) }
                lists.append(QueryPath.ListStep(links: links, column: column))
                links = []
                if schema.target != nil { return path(table, .object) }
                return path(try elements(table, schema, place), .column(ListTable.value))
            }
            guard schema.type == .link || schema.type == .list else {
                throw QueryTextFault(
                    place, "'\(schema.name)' of \(table.name) is \(schema.type.described), and leads nowhere")
            }
            if case .aggregate(let name) = tokens.current.kind {
                return path(table, try aggregate(name, column, table, schema, place))
            }
            steps += 1
            guard steps <= Self.maxSteps else {
                throw QueryTextFault(offset, "the path is longer than \(Self.maxSteps) links")
            }
            if schema.type == .link {
                links.append(column)
            } else {
                lists.append(QueryPath.ListStep(links: links, column: column))
                links = []
            }
            if let name = schema.target {
                table = try target(name, place)
            } else {
                table = try elements(table, schema, place)
            }
            if case .symbol("(") = tokens.current.kind { return path(table, .condition(try nested(steps, in: table))) }
        }
    }

    private mutating func nested(_ steps: Int, in table: TableSchema) throws(QueryTextFault) -> FilterExpression {
        let outer = self.table
        self.table = table
        let condition = try parenthesis(depth: steps + 1)
        self.table = outer
        return condition
    }

    private func target(_ name: String, _ offset: Int) throws(QueryTextFault) -> TableSchema {
        if let table = tables(name) { return table }
        throw QueryTextFault(offset, "\(name) is no model of this store")
    }

    private func elements(
        _ table: TableSchema, _ schema: ColumnSchema, _ offset: Int
    ) throws(QueryTextFault) -> TableSchema { try target(ListTable.name(table.name, schema.name), offset) }

    private mutating func aggregate(
        _ name: String, _ column: Int, _ table: TableSchema, _ schema: ColumnSchema, _ offset: Int
    ) throws(QueryTextFault) -> QueryPath.End {
        guard let aggregate = Self.aggregates[name.lowercased()] else {
            throw tokens.fault("'@\(name.prefix(60))' is none of @count, @sum, @min, @max and @avg")
        }
        tokens.advance()
        if aggregate == .count { return .aggregate(column: column, .count, of: nil) }
        var place = tokens.current.offset
        let measured: ColumnSchema
        var of: Int?
        if let target = schema.target {
            try tokens.expect(".", "and a property behind @\(name)")
            place = tokens.current.offset
            let table = try self.target(target, offset)
            let column = try self.name(in: table)
            measured = table.columns[column]
            of = column
        } else {
            measured = try elements(table, schema, offset).columns[ListTable.value]
        }
        guard [.int, .double, .date].contains(measured.type) else {
            throw QueryTextFault(
                place, "'\(measured.name)' is \(measured.type.described): @\(name) is for numbers and dates")
        }
        return .aggregate(column: column, aggregate, of: of)
    }
}
