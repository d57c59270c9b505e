// Parses demangled Swift names as far as needed: brackets, arguments and their context. Pure.

enum DemangledText {
    /// Removes generic arguments and constraints, discriminators of private names, modules of extensions and suffixes:
    /// `(extension in M):Swift.Array< where A: P>.(f in _0A1B)<B>(B) -> ()` becomes `Swift.Array.f(B) -> ()`.
    static func plain(_ text: Substring) -> Substring {
        let bytes = Array(before(" with unmangled suffix ", in: text).utf8)
        var kept: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if let end = operatorEnd(bytes, index) {
                kept += bytes[index..<end]
                index = end
            } else if bytes[index] == UInt8(ascii: "<"), let end = angleEnd(bytes, index) {
                if kept.last == UInt8(ascii: " ") { kept.removeLast() }
                index = end
            } else if bytes[index...].starts(with: "(extension in ".utf8) {
                index = (bytes[index...].firstIndex(of: UInt8(ascii: ":")) ?? bytes.count - 1) + 1
            } else if bytes[index] == UInt8(ascii: "("), let name = privateName(bytes[(index + 1)...]) {
                kept += name
                index = bytes[index...].firstIndex(of: UInt8(ascii: ")"))! + 1
            } else {
                kept.append(bytes[index])
                index += 1
            }
        }
        return Substring(decoding: kept, as: UTF8.self)
    }

    /// Splits the description of a compiler-made entity from its subject: `type metadata accessor for ` and `M.T`.
    /// Returns nil if there is none.
    static func kind(_ text: Substring) -> (words: Substring, rest: Substring)? {
        for mark in [" for type ", " for ", " of "] {
            let words = before(mark, in: text)
            let isWords = words.allSatisfy { $0.isLetter || $0.isNumber || " -#".contains($0) }
            if words.endIndex < text.endIndex, isWords {
                return (
                    text[..<text.index(words.endIndex, offsetBy: mark.count)],
                    text[words.endIndex...].dropFirst(mark.count)
                )
            }
        }
        return nil
    }

    /// Returns `closure #1` or `implicit closure #2`, or nil for other text.
    static func closure(_ text: Substring) -> String? {
        for word in ["closure #", "implicit closure #"] where text.hasPrefix(word) {
            return word + text.dropFirst(word.count).prefix { $0.isNumber }
        }
        return nil
    }

    /// Splits `M.T.f(A, to: B) -> C` into `M.T.f` and `A, to: B`. Arguments are nil if it is not a function.
    static func call(_ text: Substring) -> (path: Substring, arguments: Substring?) {
        guard let open = text.firstIndex(of: "(") else { return (before(" -> ", in: text), nil) }
        let inner = text[text.index(after: open)...]
        var depth = 1
        let close = inner.utf8.firstIndex { byte in
            depth += nesting(byte)
            return depth == 0
        }
        let path = text[..<open]
        return (path.last == " " ? path.dropLast() : path, inner[..<(close ?? inner.endIndex)])
    }

    /// Returns `(_:to:)` for `A, to: B`.
    static func labels(_ arguments: Substring) -> String {
        if arguments.isEmpty { return "()" }
        let labels = split(arguments, at: ", ").map { argument -> Substring in
            let label = before(": ", in: argument)
            // A type can also contain a colon, as in a dictionary, but only within brackets.
            return label.endIndex < argument.endIndex && !label.contains { "[( .".contains($0) } ? label : "_"
        }
        return "(" + labels.map { $0 + ":" }.joined() + ")"
    }

    /// Returns `T.f` for `M.T.f`.
    static func withoutModule(_ path: Substring) -> Substring {
        let module = path.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        let rest = path[module.endIndex...]
        return module.isEmpty || !rest.hasPrefix(".") ? path : rest.dropFirst()
    }

    /// Splits at each `mark` outside brackets.
    static func split(_ text: Substring, at mark: String) -> [Substring] {
        var (parts, depth): ([Substring], Int) = ([], 0)
        let bytes = text.utf8
        var (start, index) = (bytes.startIndex, bytes.startIndex)
        while index < bytes.endIndex {
            depth += nesting(bytes[index])
            if depth == 0, bytes[index...].starts(with: mark.utf8) {
                parts.append(text[start..<index])
                index = bytes.index(index, offsetBy: mark.utf8.count)
                start = index
            } else {
                index = bytes.index(after: index)
            }
        }
        return parts + [text[start...]]
    }

    // MARK: Pieces

    private static func before(_ mark: String, in text: Substring) -> Substring {
        text.firstRange(of: mark).map { text[..<$0.lowerBound] } ?? text
    }

    private static func nesting(_ byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: "["): 1
        case UInt8(ascii: ")"), UInt8(ascii: "]"): -1
        default: 0
        }
    }

    /// Returns the end of an operator that starts here, such as `<` in `M.T.< infix(A, A)`, or nil.
    private static func operatorEnd(_ bytes: [UInt8], _ start: Int) -> Int? {
        guard start == 0 || [UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: " ")].contains(bytes[start - 1]) else {
            return nil
        }
        let end = bytes[start...].firstIndex { !"/=-+!*%<>&|^~?.".utf8.contains($0) } ?? bytes.count
        guard end > start else { return nil }
        let isFunction = ["infix", "prefix", "postfix"].contains { bytes[end...].starts(with: " \($0)".utf8) }
        return isFunction || bytes[end...].starts(with: " in _".utf8) ? end : nil
    }

    /// Returns the index after the `>` that closes the `<` here, or nil.
    private static func angleEnd(_ bytes: [UInt8], _ start: Int) -> Int? {
        var depth = 0
        for index in start..<bytes.count {
            if bytes[index] == UInt8(ascii: "<") { depth += 1 }
            if bytes[index] == UInt8(ascii: ">"), bytes[index - 1] != UInt8(ascii: "-") { depth -= 1 }
            if depth == 0 { return index + 1 }
        }
        return nil
    }

    /// Returns `name` of `name in _0A1B)…`, or nil if it is not a private name.
    private static func privateName(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let blank = bytes.firstIndex(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "(") }),
            bytes[blank...].starts(with: " in _".utf8), let close = bytes.firstIndex(of: UInt8(ascii: ")")),
            close > blank,
            bytes[(blank + 5)..<close].allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x46).contains($0) })
        else { return nil }
        return bytes[..<blank]
    }
}
