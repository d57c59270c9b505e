// From a filter back to text that reads as the same filter. What has no way to be written (dates, data, UUIDs, infinity)
// becomes an argument.

struct QueryPrinter {
    private let table: TableSchema
    private(set) var arguments: [QueryArgumentValue] = []

    init(_ table: TableSchema) { self.table = table }

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
        }
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

    private func name(_ column: Int) -> String {
        let name = table.columns[column].name
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
