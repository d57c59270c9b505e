// A cursor over the tokens of a query's text, for the parser. One thread.

/// Keywords, whose case does not matter. A property with such a name is written in backquotes.
enum QueryKeyword: String, CaseIterable {
    case and, or, not, any, some, all, none, `in`, between, contains, beginsWith, endsWith, like
    case null, `nil`, `true`, `false`, truePredicate, falsePredicate
    case `self`, sort, distinct, limit, asc, ascending, desc, descending

    private static let byWord = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

    init?(word: String) {
        guard let keyword = Self.byWord[word.lowercased()] else { return nil }
        self = keyword
    }
}

struct QueryTokens {
    private let tokens: [QueryToken]
    private var index = 0

    init(_ tokens: [QueryToken]) { self.tokens = tokens }

    var current: QueryToken { tokens[index] }
    /// The token after the current one. The end repeats.
    var next: QueryToken { tokens[min(index + 1, tokens.count - 1)] }

    mutating func advance() { index = min(index + 1, tokens.count - 1) }

    var keyword: QueryKeyword? {
        if case .word(let word, false) = current.kind { QueryKeyword(word: word) } else { nil }
    }

    mutating func take(_ keyword: QueryKeyword) -> Bool {
        guard self.keyword == keyword else { return false }
        advance()
        return true
    }

    mutating func take(_ symbols: String...) -> Bool {
        guard case .symbol(let symbol) = current.kind, symbols.contains(symbol) else { return false }
        advance()
        return true
    }

    mutating func expect(_ symbol: String, _ purpose: String) throws(QueryTextFault) {
        if !take(symbol) { throw fault("expected '\(symbol)' \(purpose), found \(current.described)") }
    }

    func fault(_ reason: String) -> QueryTextFault { QueryTextFault(current.offset, reason) }

    mutating func takeCaseOption() throws(QueryTextFault) -> Bool {
        guard take("[") else { return false }
        guard case .word(let option, _) = current.kind, option.lowercased() == "c" else {
            throw fault("expected [c], which compares without regard to case, found \(current.described)")
        }
        advance()
        try expect("]", "after [c")
        return true
    }
}
