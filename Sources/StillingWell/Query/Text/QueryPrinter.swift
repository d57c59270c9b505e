// Prints a filter as text. Values without a text form (dates, data, UUIDs, links, infinity, NaN) become arguments.

struct QueryPrinter {
    /// The names of a class's columns and of the classes that its links lead to.
    struct Names {
        private let columns: [String]
        private let layout: ModelLayout?

        init(_ layout: ModelLayout?, columns: [String] = []) {
            self.columns = layout?.properties.map(\.name) ?? columns
            self.layout = layout
        }

        func target(_ column: Int) -> Names {
            // Without names, columns are printed as their numbers.
            guard let layout else { return Names(nil) }
            if let target = layout.properties[column].target { return Names(ModelLayout.of(target)) }
            // The target is the element table of a list of values.
            return Names(nil, columns: ListTable.columnNames)
        }

        func name(_ column: Int) -> String {
            guard columns.indices.contains(column) else { return "#\(column)" }
            let name = columns[column]
            return QueryKeyword(word: name) == nil && QueryLexer.isWord(name) ? name : "`\(name)`"
        }
    }

    private(set) var arguments: [QueryArgumentValue] = []
    private let names: Names

    init(_ names: Names) { self.names = names }

    /// A part still to be printed. Kept on an explicit stack, because filters may be nested deeper than the call stack
    /// allows.
    private enum Piece {
        case text(String)
        case filter(FilterExpression, Names)
    }

    /// Prints a filter. Shared parts are printed each time.
    mutating func print(_ filter: FilterExpression) -> String {
        var text = ""
        var pending: [Piece] = [.filter(filter, names)]
        while let next = pending.popLast() {
            switch next {
            case .text(let words): text += words
            case .filter(.node(let node), let names): pending.append(contentsOf: pieces(node, names).reversed())
            case .filter(let filter, let names): text += print(filter, names)
            }
        }
        return text
    }

    private func pieces(_ node: FilterNode, _ names: Names) -> [Piece] {
        let part = node.parts.first ?? .all
        switch node.kind {
        case .and: return joined(node.parts, "AND", empty: .all, names)
        case .or: return joined(node.parts, "OR", empty: .none, names)
        case .not: return [.text("NOT ("), .filter(part, names), .text(")")]
        case .naming: return [.filter(part, names)]
        case .linked(let column):
            return [.text("\(names.name(column)).("), .filter(part, names.target(column)), .text(")")]
        case .quantified(let column, let quantifier):
            let opening = "\(Self.symbol(quantifier)) \(names.name(column)).("
            return [.text(opening), .filter(part, names.target(column)), .text(")")]
        }
    }

    private func joined(
        _ parts: [FilterExpression], _ word: String, empty: FilterExpression, _ names: Names
    ) -> [Piece] {
        if parts.isEmpty { return [.filter(empty, names)] }
        var pieces: [Piece] = []
        for part in parts {
            if !pieces.isEmpty { pieces.append(.text(" \(word) ")) }
            if case .node(let node) = part, node.kind == .and || node.kind == .or {
                pieces += [.text("("), .filter(part, names), .text(")")]
            } else {
                pieces.append(.filter(part, names))
            }
        }
        return pieces
    }

    private mutating func print(_ leaf: FilterExpression, _ names: Names) -> String {
        switch leaf {
        case .all, .node: "TRUEPREDICATE"
        case .none: "FALSEPREDICATE"
        case .column(let column, .compare(let comparison, let value), _):
            "\(names.name(column)) \(Self.symbol(comparison)) \(print(value))"
        case .column(let column, .oneOf(let set), _):
            "\(names.name(column)) IN {\(set.values.map { print($0) }.sorted().joined(separator: ", "))}"
        case .column(let column, .text(let pattern), _):
            """
            \(names.name(column)) \(Self.symbol(pattern.match))\(pattern.foldsCase ? "[c]" : "") \
            \(Self.quoted(pattern.text))
            """
        case .identity(let id): "SELF == \(print(.link(id)))"
        case .aggregate(let column, let aggregate, let of, let comparison, let value):
            "\(names.name(column)).\(Self.symbol(aggregate))\(of.map { ".\(names.target(column).name($0))" } ?? "") "
                + "\(Self.symbol(comparison)) \(print(value))"
        }
    }

    private mutating func print(_ value: ColumnValue) -> String {
        switch value {
        case .null: return "NULL"
        case .int(let value): return "\(value)"
        case .double(let value) where value.isFinite: return "\(value)"
        case .bool(let value): return value ? "TRUE" : "FALSE"
        case .string(let value): return Self.quoted(value)
        default:
            arguments.append(.value(value))
            return "$\(arguments.count - 1)"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                quoted += "\\u{\(String(scalar.value, radix: 16))}"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func symbol(_ comparison: Comparison) -> String {
        switch comparison {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    private static func symbol(_ quantifier: Quantifier) -> String {
        switch quantifier {
        case .any: "ANY"
        case .all: "ALL"
        case .none: "NONE"
        }
    }

    private static func symbol(_ aggregate: Aggregate) -> String {
        switch aggregate {
        case .count: "@count"
        case .sum: "@sum"
        case .min: "@min"
        case .max: "@max"
        case .average: "@avg"
        }
    }

    private static func symbol(_ match: TextMatch) -> String {
        switch match {
        case .equals: "=="
        case .contains: "CONTAINS"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .like: "LIKE"
        }
    }
}
