// The condition of `observers.where`, by which `reads: count` counts rows. Its operand is a number of values or a word,
// because scores and texts follow from the seed. Values only.

/// A condition on the score or the text of a row.
public struct ConditionSpec: Sendable, Equatable {
    public enum Test: Sendable, Equatable {
        /// The score is that of one of this many loaded rows, evenly spread over them.
        case score(in: Int)
        /// The same as `score(in:)`, as equalities joined by "or".
        case scoreEither(Int)
        /// The text is that of one of this many loaded rows, evenly spread over them.
        case text(in: Int)
        /// The text begins with the word.
        case textStarts(String, ignoringCase: Bool)
        case textContains(String, ignoringCase: Bool)
    }

    /// Form of each condition, for messages and the reference.
    package static let forms = [
        "score in N", "score or N", "text in N", "text startswith WORD", "text istartswith WORD", "text contains WORD",
        "text icontains WORD",
    ]
    /// Greatest number of values.
    private static let mostValues = 10_000
    private static let mostLetters = 100

    public let test: Test

    /// Parses text in one of the `forms`. Words consist of ASCII letters and digits, so that every engine ignores case
    /// in the same way.
    /// - Throws: the end of a sentence that starts with the setting's name.
    package init(_ text: String) throws(ValueFault) {
        let words = text.split(separator: " ")
        guard words.count == 3 else { throw Self.unknown(text) }
        let (name, operand) = (words[0] + " " + words[1], String(words[2]))
        switch name {
        case "score in": test = .score(in: try Self.count(operand))
        case "score or": test = .scoreEither(try Self.count(operand))
        case "text in": test = .text(in: try Self.count(operand))
        case "text startswith", "text istartswith":
            test = .textStarts(try Self.word(operand), ignoringCase: name == "text istartswith")
        case "text contains", "text icontains":
            test = .textContains(try Self.word(operand), ignoringCase: name == "text icontains")
        default: throw Self.unknown(text)
        }
    }

    /// Whether the condition is on the text.
    package var readsText: Bool {
        switch test {
        case .score, .scoreEither: false
        case .text, .textStarts, .textContains: true
        }
    }

    /// Canonical text, which parses to the same condition.
    package var text: String {
        switch test {
        case .score(let count): "score in \(count)"
        case .scoreEither(let count): "score or \(count)"
        case .text(let count): "text in \(count)"
        case .textStarts(let word, let ignoresCase): "text \(ignoresCase ? "i" : "")startswith \(word)"
        case .textContains(let word, let ignoresCase): "text \(ignoresCase ? "i" : "")contains \(word)"
        }
    }

    private static func unknown(_ text: String) -> ValueFault {
        ValueFault("expects 'none' or one of '\(forms.joined(separator: "', '"))', found '\(Quantity.clipped(text))'")
    }

    private static func count(_ text: String) throws(ValueFault) -> Int {
        let count = try Quantity.integer(text)
        guard (1...mostValues).contains(count) else {
            throw ValueFault("must have from 1 to \(mostValues) values, found \(count)")
        }
        return count
    }

    private static func word(_ text: String) throws(ValueFault) -> String {
        guard text.utf8.count <= mostLetters, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw ValueFault(
                "expects a word of at most \(mostLetters) ASCII letters and digits, found '\(Quantity.clipped(text))'")
        }
        return text
    }
}
