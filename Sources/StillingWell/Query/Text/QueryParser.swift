// Parses the text of a query to the filter, order and limit that the typed interface builds, by recursive descent.
// Errors carry their position. Nesting is bounded, because it takes stack.
//
//     query       = [condition] [SORT(path [ASC|DESC], …)] [DISTINCT(name, …)] [LIMIT(n)]
//     condition   = all [OR all]…          all = one [AND one]…          one = [NOT]… ( (condition) | test )
//     test        = path op constant | constant cmp path | path IN {constant, …} | constant IN path
//                 | path BETWEEN {low, high} | path.(condition) | TRUEPREDICATE | FALSEPREDICATE
//     path        = [ANY|ALL|NONE] name[.name]…[.@count | .@sum.name | …] | SELF      over lists, ANY is the default
//     cmp         = == != < <= > >=       [c] after == or != means: without regard to case
//     op          = cmp | CONTAINS BEGINSWITH ENDSWITH LIKE      [c] may follow each of these four
//     constant    = 12 | 0.5 | "text" | 'text' | TRUE | FALSE | NULL | $0
//
// Some of these have other spellings, such as `<>` for `!=` and SOME for ANY.

struct QueryText {
    var filter = FilterExpression.all
    var sort: [SortTerm] = []
    var distinct: [Int]?
    var limit: Int?
}

struct QueryParser {
    /// Limit of nesting. Parentheses count one, those behind a path one more per link or list. In a debug build the
    /// former take 3 KB of stack and the latter 10 KB. Threads other than the first may have only 512 KB.
    static let maxDepth = 40

    /// Table that names refer to.
    var table: TableSchema
    let tables: (String) -> TableSchema?
    /// Whether a column of a table has values of type `Float`.
    let isFloat: (_ table: TableSchema, _ column: Int) -> Bool
    let arguments: [QueryArgumentValue]
    /// Returns why an object of the given store cannot be used in this query, or nil if it can.
    let reasonAgainst: (ObjectHome) -> String?
    var tokens: QueryTokens
    private var depth = 0

    /// - Throws: `invalidQuery`.
    static func parse(
        _ text: String, _ table: TableSchema, _ arguments: [QueryArgumentValue],
        tables: @escaping (String) -> TableSchema? = { _ in nil },
        isFloat: @escaping (TableSchema, Int) -> Bool = { _, _ in false },
        reasonAgainst: @escaping (ObjectHome) -> String? = { _ in nil }
    ) throws(StoreError) -> QueryText {
        let scalars = Array(text.unicodeScalars)
        do throws(QueryTextFault) {
            let tokens = QueryTokens(try QueryLexer.tokens(scalars))
            var parser = QueryParser(
                table: table, tables: tables, isFloat: isFloat, arguments: arguments, reasonAgainst: reasonAgainst,
                tokens: tokens)
            return try parser.query()
        } catch {
            throw .invalidQuery(error, in: scalars)
        }
    }

    private mutating func query() throws(QueryTextFault) -> QueryText {
        var query = QueryText()
        switch tokens.keyword {
        case .sort, .distinct, .limit: break
        default: query.filter = try condition()
        }
        if tokens.take(.sort) { query.sort = try sort() }
        if tokens.take(.distinct) { query.distinct = try distinct() }
        if tokens.take(.limit) { query.limit = try limit() }
        guard tokens.current.kind == .end else {
            switch tokens.keyword {
            case .sort, .distinct, .limit:
                throw tokens.fault("SORT, DISTINCT and LIMIT stand in this order, each of them once")
            default:
                throw tokens.fault(
                    "expected AND, OR, SORT, DISTINCT, LIMIT or the end, found \(tokens.current.described)")
            }
        }
        return query
    }

    // MARK: Conditions

    private mutating func condition() throws(QueryTextFault) -> FilterExpression {
        var parts = [try conjunction()]
        while tokens.take(.or) || tokens.take("||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(QueryTextFault) -> FilterExpression {
        var parts = [try negation()]
        while tokens.take(.and) || tokens.take("&&") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(QueryTextFault) -> FilterExpression {
        var isNegated = false
        while tokens.take(.not) || tokens.take("!") { isNegated.toggle() }
        let part = try primary()
        return isNegated ? .not(part) : part
    }

    private mutating func primary() throws(QueryTextFault) -> FilterExpression {
        if tokens.take(.truePredicate) { return .all }
        if tokens.take(.falsePredicate) { return .none }
        guard case .symbol("(") = tokens.current.kind else { return try test() }
        return try parenthesis(depth: 1)
    }

    /// - Parameter depth: number of nesting levels to add.
    mutating func parenthesis(depth steps: Int) throws(QueryTextFault) -> FilterExpression {
        guard depth + steps <= Self.maxDepth else {
            throw tokens.fault("conditions are nested deeper than \(Self.maxDepth): write a flatter one")
        }
        depth += steps
        try tokens.expect("(", "before a condition")
        let part = try condition()
        try tokens.expect(")", "to close a parenthesis")
        depth -= steps
        return part
    }

    // MARK: Order and choice

    private mutating func sort() throws(QueryTextFault) -> [SortTerm] {
        var terms: [SortTerm] = []
        try list("SORT") { parser throws(QueryTextFault) in
            var term = try parser.sortedProperty()
            if parser.tokens.take(.desc) || parser.tokens.take(.descending) {
                term.ascending = false
            } else if !parser.tokens.take(.asc) {
                _ = parser.tokens.take(.ascending)
            }
            if !terms.contains(where: { $0.hasColumn(of: term) }) { terms.append(term) }
        }
        return terms
    }

    private mutating func distinct() throws(QueryTextFault) -> [Int] {
        var columns: [Int] = []
        try list("DISTINCT") { parser throws(QueryTextFault) in
            let column = try parser.ownProperty()
            if !columns.contains(column) { columns.append(column) }
        }
        return columns
    }

    private mutating func limit() throws(QueryTextFault) -> Int {
        try tokens.expect("(", "after LIMIT")
        let constant = try constant()
        guard case .int(let count) = constant.value, count >= 0 else {
            throw QueryTextFault(constant.offset, "LIMIT takes a number of rows, 0 or more")
        }
        try tokens.expect(")", "after the number of rows")
        return count
    }

    private mutating func list(
        _ name: String, _ element: (inout QueryParser) throws(QueryTextFault) -> Void
    ) throws(QueryTextFault) {
        try tokens.expect("(", "after \(name)")
        repeat { try element(&self) } while tokens.take(",")
        try tokens.expect(")", "or ',' in \(name)")
    }
}
