// From a filter back to text that reads as the same filter. What has no way to be written (dates, data, UUIDs, infinity)
// becomes an argument.

struct QueryPrinter {
    /// The names of a class's columns, and of those that its links lead to.
    struct Names {
        let columns: [String]
        private let layout: ModelLayout?

        init(_ layout: ModelLayout) {
            columns = layout.properties.map(\.name)
            self.layout = layout
        }

        /// Of the elements of a list of values.
        private init() {
            columns = ListTable.columnNames
            layout = nil
        }

        func target(_ column: Int) -> Names {
            guard let target = layout?.properties[column].target else { return Names() }
            return Names(ModelLayout.of(target))
        }
    }

    private var names: Names
    private(set) var arguments: [QueryArgumentValue] = []

    init(_ names: Names) { self.names = names }

    mutating func print(_ filter: FilterExpression) -> String {
        switch filter {
        case .all: "TRUEPREDICATE"
        case .none: "FALSEPREDICATE"
        case .compare(let column, let comparison, let value, _):
            "\(name(column)) \(Self.symbol(comparison)) \(print(value))"
        case .oneOf(let column, let values, _):
            "\(name(column)) IN {\(values.map { print($0) }.sorted().joined(separator: ", "))}"
        case .text(let column, let pattern, _):
            "\(name(column)) \(Self.symbol(pattern.match))\(pattern.foldsCase ? "[c]" : "") \(Self.quoted(pattern.text))"
        case .and(let parts): print(parts, "AND", empty: .all)
        case .or(let parts): print(parts, "OR", empty: .none)
        case .not(let part): "NOT (\(print(part)))"
        case .identity(let id): "SELF == \(print(.link(id)))"
        case .linked(let column, let condition): "\(name(column)).(\(print(condition, behind: column)))"
        case .quantified(let column, let quantifier, let condition):
            "\(Self.symbol(quantifier)) \(name(column)).(\(print(condition, behind: column)))"
        case .aggregate(let column, let aggregate, let of, let comparison, let value):
            "\(name(column)).\(Self.symbol(aggregate))\(of.map { ".\(name($0, in: names.target(column)))" } ?? "") "
                + "\(Self.symbol(comparison)) \(print(value))"
        }
    }

    /// A condition on what a link or a list leads to.
    private mutating func print(_ condition: FilterExpression, behind column: Int) -> String {
        let outer = names
        names = names.target(column)
        defer { names = outer }
        return print(condition)
    }

    private mutating func print(_ parts: [FilterExpression], _ word: String, empty: FilterExpression) -> String {
        if parts.isEmpty { return print(empty) }
        var texts: [String] = []
        for part in parts {
            let text = print(part)
            switch part {
            case .and, .or: texts.append("(\(text))")
            default: texts.append(text)
            }
        }
        return texts.joined(separator: " \(word) ")
    }

    private func name(_ column: Int) -> String { name(column, in: names) }

    private func name(_ column: Int, in names: Names) -> String {
        let name = names.columns[column]
        return QueryKeyword(word: name) == nil ? name : "`\(name)`"
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
