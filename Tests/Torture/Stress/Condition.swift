// A filter in two forms: a filter of the store, and a plain test of a value.
import Foundation
import StillingWell

enum Operator: String, CaseIterable, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    var isOfOrder: Bool { self != .equal && self != .notEqual }

    func filter<Object: StoredObject, Value: StorableValue>(
        _ keyPath: KeyPath<Object, Value>, _ value: Value
    ) -> Filter<Object> {
        switch self {
        case .equal: keyPath == value
        case .notEqual: keyPath != value
        case .less: keyPath < value
        case .lessOrEqual: keyPath <= value
        case .greater: keyPath > value
        case .greaterOrEqual: keyPath >= value
        }
    }

    /// Returns whether a value passes whose order to the constant is `order` (negative, zero, positive). nil means
    /// that exactly one of the two is null.
    func admits(_ order: Int?) -> Bool {
        guard let order else { return self == .notEqual }
        return switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}

/// Position of a text within another text.
enum Part: String, CaseIterable, Sendable {
    case start = "BEGINSWITH"
    case middle = "CONTAINS"
    case end = "ENDSWITH"

    /// Returns whether `part` is found, compared by bytes.
    func isFound(_ part: String, in whole: String) -> Bool {
        let (part, whole) = (Array(part.utf8), Array(whole.utf8))
        guard whole.count >= part.count else { return false }
        return switch self {
        case .start: whole.starts(with: part)
        case .end: whole.suffix(part.count).elementsEqual(part)
        case .middle: (0...(whole.count - part.count)).contains { whole[$0...].starts(with: part) }
        }
    }
}

enum Order {
    static func of<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : (a == b ? 0 : 1) }

    static func of(_ a: String, _ b: String) -> Int {
        if a.utf8.elementsEqual(b.utf8) { return 0 }
        return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    }

    static func of(_ a: Bool, _ b: Bool) -> Int { of(a ? 1 : 0, b ? 1 : 0) }

    /// Orders nil before every value.
    static func of<Value: Comparable>(_ a: Value?, _ b: Value?) -> Int {
        switch (a, b) {
        case (nil, nil): 0
        case (nil, _): -1
        case (_, nil): 1
        case (let a?, let b?): of(a, b)
        }
    }
}

indirect enum Condition: Sendable {
    case score(Operator, Int)
    case weight(Operator, Double)
    case title(Operator, String)
    case isDone(Bool)
    case group(Operator, Int?)
    case due(Operator, Date?)
    case scoreIn([Int])
    case titleHas(Part, String, ignoresCase: Bool)
    case and([Condition])
    case or([Condition])
    case not(Condition)

    func filter<Object: StressRow>(_ type: Object.Type) -> Filter<Object> {
        switch self {
        case .score(let comparison, let value): comparison.filter(\Object.score, value)
        case .weight(let comparison, let value): comparison.filter(\Object.weight, value)
        case .title(let comparison, let value): comparison.filter(\Object.title, value)
        case .isDone(let value): Operator.equal.filter(\Object.isDone, value)
        case .group(let comparison, let value): comparison.filter(\Object.group, value)
        case .due(let comparison, let value): comparison.filter(\Object.due, value)
        case .scoreIn(let values): (\Object.score).in(values)
        case .titleHas(.start, let text, let ignoresCase):
            (\Object.title).hasPrefix(text, caseInsensitive: ignoresCase)
        case .titleHas(.end, let text, let ignoresCase):
            (\Object.title).hasSuffix(text, caseInsensitive: ignoresCase)
        case .titleHas(.middle, let text, let ignoresCase):
            (\Object.title).contains(text, caseInsensitive: ignoresCase)
        case .and(let parts): parts.dropFirst().reduce(parts[0].filter(type)) { $0 && $1.filter(type) }
        case .or(let parts): parts.dropFirst().reduce(parts[0].filter(type)) { $0 || $1.filter(type) }
        case .not(let part): !part.filter(type)
        }
    }

    func passes(_ row: RowValue) -> Bool {
        switch self {
        case .score(let comparison, let value): comparison.admits(Order.of(row.score, value))
        case .weight(let comparison, let value): comparison.admits(Order.of(row.weight, value))
        case .title(let comparison, let value): comparison.admits(Order.of(row.title, value))
        case .isDone(let value): row.isDone == value
        case .group(let comparison, let value): Self.passes(row.group, comparison, value)
        case .due(let comparison, let value): Self.passes(row.due, comparison, value)
        case .scoreIn(let values): values.contains(row.score)
        case .titleHas(let part, let text, let ignoresCase):
            part.isFound(ignoresCase ? text.lowercased() : text, in: ignoresCase ? row.title.lowercased() : row.title)
        case .and(let parts): parts.allSatisfy { $0.passes(row) }
        case .or(let parts): parts.contains { $0.passes(row) }
        case .not(let part): !part.passes(row)
        }
    }

    /// Compares values that may be null. Null equals null, differs from every value, and has no order.
    private static func passes<Value: Comparable>(_ a: Value?, _ comparison: Operator, _ b: Value?) -> Bool {
        switch (a, b) {
        case (nil, nil): comparison == .equal
        case (nil, _), (_, nil): comparison == .notEqual
        case (let a?, let b?): comparison.admits(Order.of(a, b))
        }
    }
}

extension Condition: CustomStringConvertible {
    var description: String {
        func text<Value>(_ name: String, _ comparison: Operator, _ value: Value?) -> String {
            "\(name) \(comparison.rawValue) \(value.map { "\($0)" } ?? "nil")"
        }
        func joined(_ parts: [Condition], _ word: String) -> String {
            "(" + parts.map(\.description).joined(separator: " \(word) ") + ")"
        }
        return switch self {
        case .score(let comparison, let value): text("score", comparison, value)
        case .weight(let comparison, let value): text("weight", comparison, value)
        case .title(let comparison, let value): text("title", comparison, value.debugDescription)
        case .isDone(let value): "isDone == \(value)"
        case .group(let comparison, let value): text("group", comparison, value)
        case .due(let comparison, let value): text("due", comparison, value?.timeIntervalSinceReferenceDate)
        case .scoreIn(let values): "score in \(values)"
        case .titleHas(let part, let text, let ignoresCase):
            "title \(part.rawValue)\(ignoresCase ? "[c]" : "") \(text.debugDescription)"
        case .and(let parts): joined(parts, "and")
        case .or(let parts): joined(parts, "or")
        case .not(let part): "not \(part)"
        }
    }
}
