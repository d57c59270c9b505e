// Text of a query for the store's parser. It is made from the plain values, not from the typed form.
import Foundation
import StillingWell

struct QueryText {
    private(set) var text = ""
    /// Values of `$0`, `$1`, …: values without a literal form, and some others.
    private var arguments: [(any QueryArgument)?] = []

    init(_ query: Query) {
        var parts: [String] = []
        if let condition = query.condition { parts.append(write(condition)) }
        if !query.keys.isEmpty {
            let keys = query.keys.map { $0.column.rawValue + ($0.ascending ? "" : " DESC") }
            parts.append("SORT(\(keys.joined(separator: ", ")))")
        }
        if !query.distinct.isEmpty {
            parts.append("DISTINCT(\(query.distinct.map(\.rawValue).joined(separator: ", ")))")
        }
        if let limit = query.limit { parts.append("LIMIT(\(limit))") }
        text = parts.isEmpty ? "TRUEPREDICATE" : parts.joined(separator: " ")
    }

    func results<Object: StressRow>(_ all: Results<Object>) throws -> Results<Object> {
        let given = arguments
        return switch given.count {
        case 0: try all.where(text)
        case 1: try all.where(text, given[0])
        case 2: try all.where(text, given[0], given[1])
        case 3: try all.where(text, given[0], given[1], given[2])
        case 4: try all.where(text, given[0], given[1], given[2], given[3])
        default: preconditionFailure("a condition has four tests at most, and \(given.count) arguments")
        }
    }

    private mutating func argument(_ value: (any QueryArgument)?) -> String {
        arguments.append(value)
        return "$\(arguments.count - 1)"
    }

    private mutating func write(_ condition: Condition) -> String {
        switch condition {
        // The text form refuses an order comparison with NULL. The typed form finds nothing.
        case .group(let comparison, nil) where comparison.isOfOrder,
            .due(let comparison, nil) where comparison.isOfOrder:
            "FALSEPREDICATE"
        case .score(let comparison, let value): "score \(comparison.rawValue) \(value)"
        case .weight(let comparison, let value): "weight \(comparison.rawValue) \(literal(value))"
        case .title(let comparison, let value): "title \(comparison.rawValue) \(argument(value))"
        case .isDone(let value): "isDone == \(value)"
        case .group(let comparison, let value): "`group` \(comparison.rawValue) \(value.map { "\($0)" } ?? "NULL")"
        case .due(let comparison, let value): "due \(comparison.rawValue) \(argument(value))"
        case .scoreIn(let values): "score IN \(argument(values))"
        case .titleHas(let part, let text, let ignoresCase):
            "title \(part.rawValue)\(ignoresCase ? "[c]" : "") \(argument(text))"
        case .and(let parts): joined(parts, "AND")
        case .or(let parts): joined(parts, "OR")
        case .not(let part): "NOT (\(write(part)))"
        }
    }

    private mutating func literal(_ value: Double) -> String { value.isFinite ? "\(value)" : argument(value) }

    private mutating func joined(_ parts: [Condition], _ word: String) -> String {
        var texts: [String] = []
        for part in parts { texts.append(write(part)) }
        return "(\(texts.joined(separator: " \(word) ")))"
    }
}
