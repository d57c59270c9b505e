// The tokens of a query's text.

struct QueryToken: Equatable {
    enum Kind: Equatable {
        /// A word, which may be a keyword unless it was written in backquotes.
        case word(String, isQuoted: Bool)
        /// A name after `@`, such as `count`.
        case aggregate(String)
        case int(Int)
        case double(Double)
        case string(String)
        /// The number of an argument, such as 0 for `$0`.
        case argument(Int)
        case symbol(String)
        case end
    }

    let kind: Kind
    /// Offset from the start of the text, in Unicode scalars.
    let offset: Int

    var described: String {
        switch kind {
        case .word(let word, _): "'\(word.prefix(60))'"
        case .aggregate(let name): "'@\(name.prefix(60))'"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string: "a string"
        case .argument(let number): "$\(number)"
        case .symbol(let symbol): "'\(symbol)'"
        case .end: "the end"
        }
    }
}

struct QueryLexer {
    private let text: [Unicode.Scalar]
    private var index = 0

    private init(_ text: [Unicode.Scalar]) { self.text = text }

    static func tokens(_ text: [Unicode.Scalar]) throws(QueryTextFault) -> [QueryToken] {
        var lexer = QueryLexer(text)
        var tokens: [QueryToken] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
        return tokens
    }

    /// Symbols, longer ones first.
    private static let symbols = [
        "==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ",",
        ".",
    ].map { ($0, Array($0.unicodeScalars)) }

    private mutating func next() throws(QueryTextFault) -> QueryToken {
        while index < text.count, text[index].properties.isWhitespace { index += 1 }
        let start = index
        guard index < text.count else { return QueryToken(kind: .end, offset: start) }
        let scalar = text[index]
        let kind: QueryToken.Kind
        if Self.startsWord(scalar) {
            kind = .word(take(while: Self.continuesWord), isQuoted: false)
        } else if Self.isDigit(scalar) || scalar == "-" {
            kind = try number()
        } else if scalar == "\"" || scalar == "'" {
            kind = .string(try string(until: scalar))
        } else if scalar == "`" {
            kind = .word(try quotedWord(), isQuoted: true)
        } else if scalar == "$" {
            kind = try argument()
        } else if scalar == "@" {
            index += 1
            kind = .aggregate(take(while: Self.continuesWord))
        } else if let (symbol, scalars) = Self.symbols.first(where: { text[start...].starts(with: $0.1) }) {
            index += scalars.count
            kind = .symbol(symbol)
        } else {
            throw QueryTextFault(
                start, "'\(scalar.escaped(asASCII: false))' means nothing here: remove it, or quote it in a string")
        }
        return QueryToken(kind: kind, offset: start)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { scalar >= "0" && scalar <= "9" }
    /// Letters, the underscore, and symbols such as emoji.
    private static func startsWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.isEmojiPresentation
            || scalar.properties.generalCategory == .otherSymbol
    }

    /// Includes digits, and marks that join or vary the scalars of one character.
    private static func continuesWord(_ scalar: Unicode.Scalar) -> Bool {
        startsWord(scalar) || isDigit(scalar) || scalar.properties.generalCategory == .nonspacingMark
            || scalar.properties.isJoinControl
    }

    /// Whether `text` is one word without backquotes.
    static func isWord(_ text: String) -> Bool {
        text.unicodeScalars.first.map(startsWord) ?? false && text.unicodeScalars.allSatisfy(continuesWord)
    }

    private mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        var taken = String.UnicodeScalarView()
        while index < text.count, condition(text[index]) {
            taken.append(text[index])
            index += 1
        }
        return String(taken)
    }

    /// Consumes one of these scalars if it comes next, and returns it. Returns an empty string otherwise.
    private mutating func takeOne(of scalars: Unicode.Scalar...) -> String {
        guard index < text.count, scalars.contains(text[index]) else { return "" }
        defer { index += 1 }
        return String(text[index])
    }

    private mutating func quotedWord() throws(QueryTextFault) -> String {
        let start = index
        index += 1
        let word = take { $0 != "`" }
        if index == text.count { throw QueryTextFault(start, "the name has no closing backquote: add it") }
        index += 1
        return word
    }

    private mutating func argument() throws(QueryTextFault) -> QueryToken.Kind {
        let start = index
        index += 1
        guard let number = Int(take(while: Self.isDigit)) else {
            throw QueryTextFault(start, "expected the number of an argument, as in $0")
        }
        return .argument(number)
    }

    private mutating func number() throws(QueryTextFault) -> QueryToken.Kind {
        let start = index
        var digits = takeOne(of: "-")
        let whole = take(while: Self.isDigit)
        digits += whole
        var isWhole = true
        if index + 1 < text.count, text[index] == ".", Self.isDigit(text[index + 1]) {
            index += 1
            digits += "." + take(while: Self.isDigit)
            isWhole = false
        }
        let exponent = takeOne(of: "e", "E")
        if !exponent.isEmpty {
            digits += exponent + takeOne(of: "+", "-") + take(while: Self.isDigit)
            isWhole = false
        }
        // An integer beyond the range of `Int` becomes a `Double`.
        if isWhole, let value = Int(digits) { return .int(value) }
        guard !whole.isEmpty, let value = Double(digits) else {
            throw QueryTextFault(start, "expected a number, as in -12, 0.5 or 1e3")
        }
        return .double(value)
    }

    private mutating func string(until quote: Unicode.Scalar) throws(QueryTextFault) -> String {
        let start = index
        var result = String.UnicodeScalarView()
        index += 1
        while index < text.count, text[index] != quote {
            if text[index] == "\\" {
                result.append(try escape())
            } else {
                result.append(text[index])
                index += 1
            }
        }
        if index == text.count { throw QueryTextFault(start, "the string has no closing quote: add it") }
        index += 1
        return String(result)
    }

    private mutating func escape() throws(QueryTextFault) -> Unicode.Scalar {
        let start = index
        index += 1
        defer { index += 1 }
        switch index < text.count ? text[index] : " " {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "0": return "\0"
        case "\\": return "\\"
        case "\"": return "\""
        case "'": return "'"
        case "u":
            // \u{1F600}
            var end = index + 1
            guard end < text.count, text[end] == "{" else { break }
            while end < text.count, text[end] != "}", end - index <= 9 { end += 1 }
            var digits = String.UnicodeScalarView()
            digits.append(contentsOf: text[min(index + 2, end)..<end])
            guard end < text.count, text[end] == "}", let value = UInt32(String(digits), radix: 16),
                let scalar = Unicode.Scalar(value)
            else { break }
            index = end
            return scalar
        default: break
        }
        throw QueryTextFault(
            start, "expected an escape: \\n, \\t, \\r, \\0, \\\\, \\\", \\' or \\u{…}; write \\\\ for a backslash")
    }
}
