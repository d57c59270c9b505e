// The elementary conditions of a query's text: a path, or SELF, compared with a constant.

extension QueryParser {
    private enum Operand {
        case path(QueryPath)
        case constant(QueryConstant)
        case itself
    }

    mutating func test() throws(QueryTextFault) -> FilterExpression {
        let start = tokens.current.offset
        switch try operand() {
        case .path(let path): return try test(path)
        case .itself: return try identity()
        case .constant(let constant):
            if tokens.take(.in) { return try isElement(constant) }
            guard let comparison = try comparison() else {
                throw tokens.fault("expected a comparison and a property, found \(tokens.current.described)")
            }
            guard case .path(let path) = try operand() else {
                throw QueryTextFault(start, "two constants are compared: one side of a comparison is a property")
            }
            return try compared(path, comparison.operator.turned, constant, foldsCase: comparison.foldsCase)
        }
    }

    private mutating func test(_ path: QueryPath) throws(QueryTextFault) -> FilterExpression {
        if case .condition(let condition) = path.end { return path.along(condition) }
        if let comparison = try comparison() {
            let constant = try rightSide()
            return try compared(path, comparison.operator, constant, foldsCase: comparison.foldsCase)
        }
        if tokens.take(.in) { return try isOne(path) }
        if tokens.take(.between) { return try isBetween(path) }
        if let match = textMatch() {
            let foldsCase = try tokens.takeCaseOption()
            let constant = try rightSide()
            return path.along(try text(path, match, constant, foldsCase: foldsCase))
        }
        throw tokens.fault(
            """
            expected a comparison (==, !=, <, <=, >, >=, IN, BETWEEN, CONTAINS, BEGINSWITH, ENDSWITH, LIKE) after \
            \(path.name), found \(tokens.current.described)
            """)
    }

    // MARK: Operators

    private static let comparisons: [String: Comparison] = [
        "==": .equal, "=": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
        ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
    ]

    private mutating func comparison() throws(QueryTextFault) -> (operator: Comparison, foldsCase: Bool)? {
        guard case .symbol(let symbol) = tokens.current.kind, let found = Self.comparisons[symbol] else { return nil }
        tokens.advance()
        let place = tokens.current.offset
        let foldsCase = try tokens.takeCaseOption()
        if foldsCase, found != .equal, found != .notEqual {
            throw QueryTextFault(place, "[c] goes with == and != and with operators on text, not with \(symbol)")
        }
        return (found, foldsCase)
    }

    private mutating func textMatch() -> TextMatch? {
        if tokens.take(.contains) { return .contains }
        if tokens.take(.beginsWith) { return .beginsWith }
        if tokens.take(.endsWith) { return .endsWith }
        return tokens.take(.like) ? .like : nil
    }

    // MARK: Conditions on an end

    private func compared(
        _ path: QueryPath, _ comparison: Comparison, _ constant: QueryConstant, foldsCase: Bool
    ) throws(QueryTextFault) -> FilterExpression {
        if foldsCase, constant.value != .null {
            let condition = try text(path, .equals, constant, foldsCase: true)
            return comparison == .equal ? path.along(condition) : path.along(.not(condition), passesMissing: true)
        }
        let constant = fitted(constant, path)
        switch path.end {
        case .aggregate(let column, let aggregate, let of):
            let value = try constant.number(path)
            return path.along(
                .aggregate(column: column, aggregate, of: of, comparison, value),
                passesMissing: FilterExpression.admitsNull(comparison, value))
        case .object: return try path.along(constant.identity(path, comparison))
        case .column, .condition:
            // A null link on the path reads as null, which equals null and differs from everything else.
            return path.along(
                try constant.compared(path, comparison),
                passesMissing: FilterExpression.admitsNull(comparison, constant.value))
        }
    }

    /// Returns the constant as the property at the path's end stores it: a `Float` has fewer digits than a `Double`.
    private func fitted(_ constant: QueryConstant, _ path: QueryPath) -> QueryConstant {
        let isFloat =
            switch path.end {
            case .column(let column): self.isFloat(path.table, column)
            case .aggregate(let column, .min, let of), .aggregate(let column, .max, let of):
                isElementFloat(path.table, column, of)
            case .aggregate, .object, .condition: false
            }
        return isFloat ? constant.asFloat : constant
    }

    private func isElementFloat(_ table: TableSchema, _ list: Int, _ property: Int?) -> Bool {
        let schema = table.columns[list]
        let name = schema.target ?? ListTable.name(table.name, schema.name)
        return tables(name).map { isFloat($0, property ?? ListTable.value) } ?? false
    }

    private func text(
        _ path: QueryPath, _ match: TextMatch, _ constant: QueryConstant, foldsCase: Bool
    ) throws(QueryTextFault) -> FilterExpression {
        let (column, schema) = try path.column()
        guard schema.type == .string else {
            throw QueryTextFault(
                path.offset, "\(path.name) is \(schema.type.described): operators on text and [c] are for strings")
        }
        guard case .string(let text) = constant.value else {
            throw QueryTextFault(constant.offset, "expected a string to look for, found \(constant.described)")
        }
        return .column(
            column, .text(TextPattern(match, text, foldsCase: foldsCase)), isOptional: schema.isOptional)
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
        let (column, schema) = try path.column()
        var values: Set<ColumnValue> = []
        for constant in constants.map({ fitted($0, path) }) {
            // No integer equals a fraction, so it is dropped.
            if schema.type == .int, case .double(let number) = constant.value {
                if let whole = Int(exactly: number) { values.insert(.int(whole)) }
            } else {
                values.insert(try constant.converted(path))
            }
        }
        return path.along(
            .column(column, .oneOf(ValueSet(values)), isOptional: schema.isOptional),
            passesMissing: values.contains(.null))
    }

    /// Parses the rest of `constant IN path`: whether a list contains the constant.
    private mutating func isElement(_ constant: QueryConstant) throws(QueryTextFault) -> FilterExpression {
        guard case .word = tokens.current.kind else {
            throw tokens.fault("expected a list behind IN, found \(tokens.current.described)")
        }
        let path = try path()
        guard !path.lists.isEmpty else {
            throw QueryTextFault(path.offset, "\(path.name) is no list, and has no elements")
        }
        return try compared(path, .equal, constant, foldsCase: false)
    }

    private mutating func isBetween(_ path: QueryPath) throws(QueryTextFault) -> FilterExpression {
        try tokens.expect("{", "after BETWEEN")
        let low = try constant()
        try tokens.expect(",", "between the ends of a range")
        let high = try constant()
        try tokens.expect("}", "after a range")
        if case .aggregate = path.end {
            return .and([
                try compared(path, .greaterOrEqual, low, foldsCase: false),
                try compared(path, .lessOrEqual, high, foldsCase: false),
            ])
        }
        // Both bounds apply to the same element of a list.
        return path.along(
            .and([
                try fitted(low, path).compared(path, .greaterOrEqual),
                try fitted(high, path).compared(path, .lessOrEqual),
            ]))
    }

    private mutating func identity() throws(QueryTextFault) -> FilterExpression {
        guard let comparison = try comparison(), comparison.operator == .equal || comparison.operator == .notEqual,
            !comparison.foldsCase
        else { throw tokens.fault("expected == or != after SELF") }
        let constant = try rightSide()
        guard case .link(let id) = constant.value else {
            throw QueryTextFault(constant.offset, "SELF is an object: compare it with one, as an argument, as in $0")
        }
        try constant.checkIsObject(of: table.name)
        return comparison.operator == .equal ? .identity(id) : .not(.identity(id))
    }

    // MARK: Operands

    private mutating func operand() throws(QueryTextFault) -> Operand {
        guard case .word = tokens.current.kind else { return .constant(try constant()) }
        let start = tokens.current.offset
        let quantifier: Quantifier
        switch tokens.keyword {
        case nil: return .path(try path())
        case .true, .false, .null, .nil: return .constant(try constant())
        case .self:
            tokens.advance()
            return .itself
        case .any?, .some?: quantifier = .any
        case .all?: quantifier = .all
        case .none?: quantifier = .none
        default:
            throw tokens.fault(
                """
                expected a property or a constant, found the keyword \(tokens.current.described); a property of this \
                name is written in backquotes
                """)
        }
        tokens.advance()
        let path = try path(quantifier)
        guard !path.lists.isEmpty else {
            throw QueryTextFault(start, "ANY, ALL and NONE are for lists, and there is none on the way to \(path.name)")
        }
        return .path(path)
    }

    private mutating func rightSide() throws(QueryTextFault) -> QueryConstant {
        if case .word = tokens.current.kind, tokens.keyword == nil {
            throw tokens.fault(
                """
                a property is compared with a constant; write text in quotes, and pass other values as arguments, as \
                in $0
                """)
        }
        return try constant()
    }

    mutating func constant() throws(QueryTextFault) -> QueryConstant {
        let token = tokens.current
        let value: ColumnValue
        var type: String?
        switch token.kind {
        case .int(let number): value = .int(number)
        case .double(let number): value = .double(number)
        case .string(let text): value = .string(text)
        case .argument(let number):
            guard let argument = argument(number) else {
                throw tokens.fault("there is no argument $\(number): \(arguments.count) are given")
            }
            switch argument {
            case .value(let given): value = given
            case .object(let object):
                if let home = object.home, let reason = reasonAgainst(home) { throw tokens.fault(reason) }
                value = .link(object.id)
                type = object.type
            case .list: throw tokens.fault("$\(number) is an array, which only IN takes")
            }
        default:
            switch tokens.keyword {
            case .true: value = .bool(true)
            case .false: value = .bool(false)
            case .null, .nil: value = .null
            default: throw tokens.fault("expected a constant, found \(token.described)")
            }
        }
        tokens.advance()
        return QueryConstant(offset: token.offset, value: value, described: token.described, type: type)
    }

    private func argument(_ number: Int) -> QueryArgumentValue? {
        arguments.indices.contains(number) ? arguments[number] : nil
    }
}

extension Comparison {
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
