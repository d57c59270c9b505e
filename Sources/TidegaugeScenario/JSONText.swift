// Renders JSON with keys in the given order, for the schema, which people read too. Pure.
import TidegaugeSpec

/// A JSON value.
enum JSONText {
    case text(String)
    case number(Double)
    case truth(Bool)
    case list([JSONText])
    case object([(key: String, value: JSONText)])

    /// Renders with an indentation of two. A value that fits into 120 columns without its key stays on one line.
    func rendered(indent: Int = 0) -> String {
        let flat = line
        if indent + flat.count <= 120 { return flat }
        let margin = String(repeating: " ", count: indent)
        switch self {
        case .text, .number, .truth: return flat
        case .list(let values):
            let lines = values.map { "\(margin)  \($0.rendered(indent: indent + 2))" }
            return "[\n\(lines.joined(separator: ",\n"))\n\(margin)]"
        case .object(let entries):
            let lines = entries.map { "\(margin)  \(Self.quoted($0.key)): \($0.value.rendered(indent: indent + 2))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(margin)}"
        }
    }

    private var line: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .number(let number): Quantity.text(number)
        case .truth(let truth): truth ? "true" : "false"
        case .list(let values): "[" + values.map(\.line).joined(separator: ", ") + "]"
        case .object(let entries):
            "{" + entries.map { "\(Self.quoted($0.key)): \($0.value.line)" }.joined(separator: ", ") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            default:
                if scalar.value < 32 {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }
}

extension JSONText: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral, ExpressibleByBooleanLiteral {
    init(stringLiteral value: String) { self = .text(value) }
    init(booleanLiteral value: Bool) { self = .truth(value) }
    init(dictionaryLiteral elements: (String, JSONText)...) {
        self = .object(elements.map { (key: $0.0, value: $0.1) })
    }
}
