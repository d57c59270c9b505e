// A condition on rows that an engine is asked to count by.

/// A condition on the score or the text of a row.
public struct RowCondition: Sendable, Equatable {
    public enum Test: Sendable, Equatable {
        /// The score is one of the values.
        case score(in: [Int64])
        /// The score equals one value or another: equalities joined by "or". There is at least one.
        case scoreEither([Int64])
        /// The text is one of the values.
        case text(in: [String])
        /// The text begins with an ASCII word.
        case textStarts(String, ignoringCase: Bool)
        /// The text contains an ASCII word.
        case textContains(String, ignoringCase: Bool)
    }

    public let test: Test
    private let scores: Set<Int64>
    private let texts: Set<String>

    public init(_ test: Test) {
        self.test = test
        switch test {
        case .score(let values), .scoreEither(let values): (scores, texts) = (Set(values), [])
        case .text(let values): (scores, texts) = ([], Set(values))
        case .textStarts, .textContains: (scores, texts) = ([], [])
        }
    }

    /// Returns whether a row passes.
    /// - Parameter text: text of the row, evaluated only if the condition reads it.
    public func passes(score: Int64, text: @autoclosure () -> String) -> Bool {
        switch test {
        case .score, .scoreEither: scores.contains(score)
        case .text: texts.contains(text())
        case .textStarts(let word, false): text().hasPrefix(word)
        case .textStarts(let word, true): text().lowercased().hasPrefix(word.lowercased())
        case .textContains(let word, false): text().contains(word)
        case .textContains(let word, true): text().lowercased().contains(word.lowercased())
        }
    }

    /// The condition in the SQL of SQLite, whose `LIKE` ignores the case of ASCII letters.
    var sql: String {
        func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
        func list(_ values: [String]) -> String { "(\(values.joined(separator: ", ")))" }
        return switch test {
        case .score(let values): "score IN \(list(values.map { "\($0)" }))"
        case .scoreEither(let values): "(\(values.map { "score = \($0)" }.joined(separator: " OR ")))"
        case .text(let values): "text IN \(list(values.map(quoted)))"
        case .textStarts(let word, false): "substr(text, 1, \(word.count)) = \(quoted(word))"
        case .textStarts(let word, true): "text LIKE \(quoted(word + "%"))"
        case .textContains(let word, false): "instr(text, \(quoted(word))) > 0"
        case .textContains(let word, true): "text LIKE \(quoted("%" + word + "%"))"
        }
    }
}
