// Text that identifies a query: equal for equal queries in every process, as long as the table is declared in the same
// way, and different for others. Constants are compared by their bits, so 0.0 and -0.0 differ. Queries that differ
// only in section functions or observed columns have the same text. Data stored on disk for a query is found by it. It
// is not meant to be read.
//
// The text is a nested list in parentheses, in which every part ends before a blank or a parenthesis. Texts and bytes
// are hexadecimal, and floating-point numbers are their bits.
import Foundation

enum QueryIdentity {
    /// Identity of a plan. Closures cannot be compared, so all section functions of a column are the same.
    /// - Parameter table: the queried table, whose columns are part of the identity.
    static func of(_ plan: QueryPlan, _ table: TableSchema) -> String {
        let section = plan.tree.section.map { section in
            [section.function == nil ? "column" : "function", words(section.term)]
        }
        return list(
            "query", words(table), list("where", plan.tree.residual.map(words).sorted()),
            list("sort", plan.tree.sort.map(words)), list("distinct", plan.tree.distinct.map { "\($0)" }),
            list("section", section ?? ["none"]), list("from", [plan.lower.map(hex) ?? "none"]),
            list("to", [plan.upper.map(hex) ?? "none"]), list("limit", [plan.limit.map { "\($0)" } ?? "none"]))
    }

    private static func list(_ parts: String...) -> String { "(" + parts.joined(separator: " ") + ")" }
    static func list(_ name: String, _ parts: [String]) -> String {
        "(" + ([name] + parts).joined(separator: " ") + ")"
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        var text = "x"
        for byte in bytes { text += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        return text
    }

    private static func words(_ table: TableSchema) -> String {
        list(
            "table", "\(table.id)", hex(table.name.utf8), table.primaryKey.map { "\($0)" } ?? "none",
            list("columns", table.columns.map(words)))
    }

    private static func words(_ column: ColumnSchema) -> String {
        list(
            hex(column.name.utf8), column.type.rawValue, "\(column.isOptional)", "\(column.isHidden ?? false)",
            column.target.map { hex($0.utf8) } ?? "none")
    }

    private static func words(_ term: SortTerm) -> String {
        let over = term.over.map { list("over", $0.links.map { "\($0)" } + [$0.type.rawValue, "\($0.isOptional)"]) }
        return list("\(term.column)", term.ascending ? "up" : "down", over ?? "own")
    }

    /// Parts of a filter still to be written, the next one last. A stack, because filters may be nested deeply.
    private enum Piece {
        case text(String)
        case filter(FilterExpression)
    }

    private static func words(_ filter: FilterExpression) -> String {
        var text = ""
        var pending: [Piece] = [.filter(filter)]
        while let next = pending.popLast() {
            switch next {
            case .text(let words): text += words
            case .filter(let filter):
                let (name, parts) = opened(filter)
                text += " (" + name
                pending.append(.text(")"))
                pending += parts.reversed().map { .filter($0) }
            }
        }
        return text
    }

    /// Name of a filter's kind, and its parts.
    private static func opened(_ filter: FilterExpression) -> (String, [FilterExpression]) {
        switch filter {
        case .all: ("all", [])
        case .none: ("none", [])
        case .column(let column, let test, let isOptional): (test.identity(column, isOptional: isOptional), [])
        case .identity(let id): ("identity \(id.rawValue)", [])
        case .aggregate(let column, let aggregate, let of, let comparison, let value):
            ("aggregate \(column) \(aggregate) \(of.map { "\($0)" } ?? "itself") \(comparison) \(words(value))", [])
        case .node(let node): (words(node.kind), node.parts)
        }
    }

    private static func words(_ kind: FilterNode.Kind) -> String {
        switch kind {
        case .and: "and"
        case .or: "or"
        case .not: "not"
        case .linked(let column): "linked \(column)"
        case .quantified(let column, let quantifier): "quantified \(column) \(quantifier)"
        case .naming(let home): "naming \(hex(home.path.utf8)) \(hex(home.type.utf8))"
        }
    }

    static func words(_ value: ColumnValue) -> String {
        switch value {
        case .null: "null"
        case .int(let value): "int:\(value)"
        case .double(let value): "double:\(String(value.bitPattern, radix: 16))"
        case .bool(let value): "bool:\(value)"
        case .string(let value): "string:\(hex(value.utf8))"
        case .date(let value): "date:\(String(value.timeIntervalSinceReferenceDate.bitPattern, radix: 16))"
        case .data(let value): "data:\(hex(value))"
        case .uuid(let value): "uuid:\(value.uuidString)"
        case .link(let value): "link:\(value.rawValue)"
        }
    }
}
