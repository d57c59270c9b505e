// The smallest conditions of a query's text: a property against a constant.

extension QueryParser {
    private enum Operand {
        case property(QueryPath)
        case constant(QueryConstant)
    }

    mutating func test() throws(QueryTextFault) -> FilterExpression {
        let start = tokens.current.offset
        switch try operand() {
        case .property(let path): return try test(path)
        case .constant(let constant):
            guard let comparison = try comparison(), !comparison.foldsCase || comparison.operator == .equal else {
                throw tokens.fault("expected a comparison and a property, found \(tokens.current.described)")
            }
            guard case .property(let path) = try operand() else {
                throw QueryTextFault(
                    offset: start, reason: "two constants are compared: one side of a comparison is a property")
            }
            return try compared(path, comparison.operator.turned, constant, foldsCase: comparison.foldsCase)
        }
    }

    /// What follows a property.
    private mutating func test(_ path: QueryPath) throws(QueryTextFault) -> FilterExpression {
        if let comparison = try comparison() {
            let constant = try rightSide()
            return try compared(path, comparison.operator, constant, foldsCase: comparison.foldsCase)
        }
        if tokens.take(.in) { return try isOne(path) }
        if tokens.take(.between) { return try isBetween(path) }
        if let match = textMatch() {
            let foldsCase = try tokens.takeCaseOption()
            let constant = try rightSide()
            return try text(path, match, constant, foldsCase: foldsCase)
        }
        throw tokens.fault(
            """
            expected a comparison (==, !=, <, <=, >, >=, IN, BETWEEN, CONTAINS, BEGINSWITH, ENDSWITH, LIKE) after \
            \(path.name), found \(tokens.current.described)
            """)
    }

    // MARK: Operators

    private mutating func comparison() throws(QueryTextFault) -> (operator: Comparison, foldsCase: Bool)? {
        guard case .symbol(let symbol) = tokens.current.kind else { return nil }
        let found: Comparison
        switch symbol {
        case "==", "=": found = .equal
        case "!=", "<>": found = .notEqual
        case "<": found = .less
        case "<=", "=<": found = .lessOrEqual
        case ">": found = .greater
        case ">=", "=>": found = .greaterOrEqual
        default: return nil
        }
        tokens.advance()
        let place = tokens.current.offset
        let foldsCase = try tokens.takeCaseOption()
        if foldsCase, found != .equal, found != .notEqual {
            throw QueryTextFault(
                offset: place, reason: "[c] goes with == and != and with operators on text, not with \(symbol)")
        }
        return (found, foldsCase)
    }

    private mutating func textMatch() -> TextMatch? {
        if tokens.take(.contains) { return .contains }
        if tokens.take(.beginsWith) { return .beginsWith }
        if tokens.take(.endsWith) { return .endsWith }
        return tokens.take(.like) ? .like : nil
    }

    private func compared(
        _ path: QueryPath, _ comparison: Comparison, _ constant: QueryConstant, foldsCase: Bool
    ) throws(QueryTextFault) -> FilterExpression {
        guard foldsCase, constant.value != .null else { return try constant.compared(path, comparison) }
        let condition = try text(path, .equals, constant, foldsCase: true)
        return comparison == .equal ? condition : .not(condition)
    }

    private func text(
        _ path: QueryPath, _ match: TextMatch, _ constant: QueryConstant, foldsCase: Bool
    ) throws(QueryTextFault) -> FilterExpression {
        guard path.schema.type == .string else {
            throw QueryTextFault(
                offset: path.offset,
                reason: "\(path.name) is \(path.schema.type.described): operators on text and [c] are for strings")
        }
        guard case .string(let text) = constant.value else {
            throw QueryTextFault(
                offset: constant.offset, reason: "expected a string to look for, found \(constant.described)")
        }
        return .text(
            column: path.column, TextPattern(match, text, foldsCase: foldsCase), isOptional: path.schema.isOptional)
    }

    private mutating func isOne(_ path: QueryPath) throws(QueryTextFault) -> FilterExpression {
        var constants: [QueryConstant] = []
        if case .argument(let number) = tokens.current.kind, case .list(let values)? = argument(number) {
            let offset = tokens.current.offset
            constants = values.map { QueryConstant(offset: offset, value: $0, described: "an element of $\(number)") }
            tokens.advance()
        } else {
            try tokens.expect("{", "after IN (or an array as an argument, as in $0)")
            if !tokens.take("}") {
                repeat { constants.append(try constant()) } while tokens.take(",")
                try tokens.expect("}", "or ',' in the list")
            }
        }
        var values: Set<ColumnValue> = []
        for constant in constants {
            // A fraction is no integer, and null no value of a property that always has one.
            if path.schema.type == .int, case .double(let number) = constant.value {
                if let whole = Int(exactly: number) { values.insert(.int(whole)) }
            } else if constant.value != .null || path.schema.isOptional {
                values.insert(try constant.converted(path))
            }
        }
        return .oneOf(column: path.column, values, isOptional: path.schema.isOptional)
    }

    private mutating func isBetween(_ path: QueryPath) throws(QueryTextFault) -> FilterExpression {
        try tokens.expect("{", "after BETWEEN")
        let low = try constant()
        try tokens.expect(",", "between the ends of a range")
        let high = try constant()
        try tokens.expect("}", "after a range")
        return .and([try low.compared(path, .greaterOrEqual), try high.compared(path, .lessOrEqual)])
    }

    // MARK: Operands

    private mutating func operand() throws(QueryTextFault) -> Operand {
        guard case .word = tokens.current.kind else { return .constant(try constant()) }
        switch tokens.keyword {
        case nil: return .property(try ownProperty())
        case .true, .false, .null, .nil: return .constant(try constant())
        default:
            throw tokens.fault(
                "expected a property or a constant, found the keyword \(tokens.current.described); a property of this name is written in backquotes"
            )
        }
    }

    /// The constant of a comparison with a property.
    private mutating func rightSide() throws(QueryTextFault) -> QueryConstant {
        if case .word = tokens.current.kind, tokens.keyword == nil {
            throw tokens.fault(
                "a property is compared with a constant; write text in quotes, and pass other values as arguments, as in $0"
            )
        }
        return try constant()
    }

    /// A property of the queried class itself.
    mutating func ownProperty() throws(QueryTextFault) -> QueryPath {
        guard case .word(let name, let isQuoted) = tokens.current.kind, isQuoted || tokens.keyword == nil else {
            throw tokens.fault("expected a property of \(table.name), found \(tokens.current.described)")
        }
        guard let column = table.columns.firstIndex(where: { $0.name == name }) else {
            let hint = NearestName.hint(for: name, among: table.columns.map(\.name))
            throw tokens.fault("\(table.name) has no property '\(name.prefix(60))'\(hint)")
        }
        let path = QueryPath(offset: tokens.current.offset, table: table, column: column)
        tokens.advance()
        return path
    }

    mutating func constant() throws(QueryTextFault) -> QueryConstant {
        let token = tokens.current
        let value: ColumnValue
        switch token.kind {
        case .int(let number): value = .int(number)
        case .double(let number): value = .double(number)
        case .string(let text): value = .string(text)
        case .argument(let number):
            guard let argument = argument(number) else {
                throw tokens.fault("there is no argument $\(number): \(arguments.count) are given")
            }
            guard case .value(let given) = argument else {
                throw tokens.fault("$\(number) is an array, which only IN takes")
            }
            value = given
        default:
            switch tokens.keyword {
            case .true: value = .bool(true)
            case .false: value = .bool(false)
            case .null, .nil: value = .null
            default: throw tokens.fault("expected a constant, found \(token.described)")
            }
        }
        tokens.advance()
        return QueryConstant(offset: token.offset, value: value, described: token.described)
    }

    private func argument(_ number: Int) -> QueryArgumentValue? {
        arguments.indices.contains(number) ? arguments[number] : nil
    }
}

extension Comparison {
    /// The same with the sides exchanged.
    fileprivate var turned: Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}
