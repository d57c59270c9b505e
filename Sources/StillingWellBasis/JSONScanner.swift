// Reads JSON from bytes. A general decoder, which is slow for messages with thousands of indices and for the schema of
// a store with many models, is used only for texts with escapes.
import Foundation

/// A position in a JSON text. Reads whole numbers, texts, truth values, null, lists and maps, or skips a value. A text
/// without escapes that is not UTF-8 is repaired.
package struct JSONScanner {
    /// Error: the text is no JSON of the expected form.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        /// Expected text, such as "a whole number".
        package let expected: String
        /// Position in bytes, from 0.
        package let place: Int

        package init(expected: String, place: Int) {
            self.expected = expected
            self.place = place
        }

        package var description: String { "byte \(place): expected \(expected)" }
    }

    /// Greatest number of levels of a skipped value.
    private static let deepest = 64

    private let bytes: UnsafeRawBufferPointer
    package private(set) var place = 0

    /// Reads `bytes`, which have to outlive the scanner.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package func problem(_ expected: String) -> Problem { Problem(expected: expected, place: place) }

    /// Returns the next byte that is not blank, without consuming it; nil at the end.
    @inline(__always)
    private mutating func peek() -> UInt8? {
        if place < bytes.count, bytes[place] > 0x20 { return bytes[place] }
        return skipBlanks()
    }

    private mutating func skipBlanks() -> UInt8? {
        while place < bytes.count {
            let byte = bytes[place]
            if byte != 0x20, byte != 0x0a, byte != 0x0d, byte != 0x09 { return byte }
            place += 1
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        place += 1
        return true
    }

    /// - Throws: `Problem` unless only blanks are left.
    package mutating func end() throws(Problem) { if peek() != nil { throw problem("the end") } }

    /// Reads a map and calls `member` with each key. `member` reads the value.
    package mutating func map(_ member: (inout JSONScanner, String) throws(Problem) -> Void) throws(Problem) {
        guard take(UInt8(ascii: "{")) else { throw problem("a map") }
        if take(UInt8(ascii: "}")) { return }
        repeat {
            let key = try text()
            guard take(UInt8(ascii: ":")) else { throw problem("':'") }
            try member(&self, key)
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw problem("',' or '}'") }
    }

    /// Reads a list and calls `element` for each element, which it reads.
    package mutating func list(_ element: (inout JSONScanner) throws(Problem) -> Void) throws(Problem) {
        guard take(UInt8(ascii: "[")) else { throw problem("a list") }
        if take(UInt8(ascii: "]")) { return }
        repeat { try element(&self) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw problem("',' or ']'") }
    }

    /// Reads a list of whole numbers and appends them. A loop of its own, because `list` calls a closure for each
    /// element.
    package mutating func numbers(into numbers: inout [Int]) throws(Problem) {
        guard take(UInt8(ascii: "[")) else { throw problem("a list") }
        if take(UInt8(ascii: "]")) { return }
        repeat {
            numbers.append(Int(try number()))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw problem("',' or ']'") }
    }

    /// Reads a whole number, written without point and exponent.
    package mutating func number() throws(Problem) -> Int64 {
        let isNegative = take(UInt8(ascii: "-"))
        if isNegative, place < bytes.count, bytes[place] <= 0x20 { throw problem("a whole number") }
        guard let value = Int64(exactly: try magnitude()) else { throw problem("a number of at most 63 bits") }
        return isNegative ? -value : value
    }

    /// Reads a whole number without a sign.
    package mutating func magnitude() throws(Problem) -> UInt64 {
        _ = peek()
        let (start, end) = (place, bytes.count)
        var (at, value): (Int, UInt64) = (start, 0)
        while at < end, case let digit = bytes[at] &- UInt8(ascii: "0"), digit < 10 {
            value = value &* 10 &+ UInt64(digit)
            at += 1
        }
        place = at
        // 19 digits fit into 64 bits.
        if at - start > 19 {
            guard let exact = UInt64(String(decoding: bytes[start..<at], as: UTF8.self)) else {
                throw problem("a number of at most 64 bits")
            }
            value = exact
        }
        if at == start || hasLeadingZero(from: start) || isAt(".") || isAt("e") || isAt("E") {
            throw problem("a whole number")
        }
        return value
    }

    private func isAt(_ character: Unicode.Scalar) -> Bool {
        place < bytes.count && bytes[place] == UInt8(ascii: character)
    }

    /// Consumes the next byte and returns its value if it is a digit.
    private mutating func digit() -> UInt8? {
        guard place < bytes.count, case let digit = bytes[place] &- UInt8(ascii: "0"), digit < 10 else { return nil }
        place += 1
        return digit
    }

    private func hasLeadingZero(from start: Int) -> Bool { place > start + 1 && bytes[start] == UInt8(ascii: "0") }

    /// Skips a number of any kind.
    private mutating func skipNumber() throws(Problem) {
        _ = take(UInt8(ascii: "-"))
        let start = place
        try skipDigits()
        if hasLeadingZero(from: start) { throw problem("a number without leading zeros") }
        if isAt(".") {
            place += 1
            try skipDigits()
        }
        guard isAt("e") || isAt("E") else { return }
        place += 1
        if isAt("+") || isAt("-") { place += 1 }
        try skipDigits()
    }

    private mutating func skipDigits() throws(Problem) {
        let start = place
        while digit() != nil {}
        if place == start { throw problem("a value") }
    }

    package mutating func flag() throws(Problem) -> Bool {
        if try word("true") { return true }
        if try word("false") { return false }
        throw problem("true or false")
    }

    /// Consumes `null` if it is next.
    package mutating func null() throws(Problem) -> Bool { try word("null") }

    private mutating func word(_ word: StaticString) throws(Problem) -> Bool {
        guard peek() == word.utf8Start[0] else { return false }
        let end = place + word.utf8CodeUnitCount
        guard end <= bytes.count, (0..<word.utf8CodeUnitCount).allSatisfy({ bytes[place + $0] == word.utf8Start[$0] })
        else { throw problem("'\(word)'") }
        place = end
        return true
    }

    /// Reads a text in quotes.
    package mutating func text() throws(Problem) -> String {
        guard take(UInt8(ascii: "\"")) else { throw problem("a text in quotes") }
        let start = place
        var hasEscapes = false
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            if bytes[place] == UInt8(ascii: "\\") {
                hasEscapes = true
                place += 1
            } else if bytes[place] < 0x20 {
                throw problem("no control character")
            }
            place += 1
        }
        guard place < bytes.count else { throw problem("the end of a text") }
        let inside = bytes[start..<place]
        place += 1
        if !hasEscapes { return String(decoding: inside, as: UTF8.self) }
        let quoted = Data([UInt8(ascii: "\"")] + inside + [UInt8(ascii: "\"")])
        guard let text = try? JSONDecoder().decode(String.self, from: quoted) else {
            throw Problem(expected: "a text with escapes of JSON", place: start)
        }
        return text
    }

    /// Skips a value of any kind and returns its bytes.
    @discardableResult
    package mutating func skip(depth: Int = 0) throws(Problem) -> Slice<UnsafeRawBufferPointer> {
        guard depth < Self.deepest else { throw problem("at most \(Self.deepest) levels") }
        let first = peek()
        let start = place
        switch first {
        case UInt8(ascii: "{"): try map { scanner, _ throws(Problem) in try scanner.skip(depth: depth + 1) }
        case UInt8(ascii: "["): try list { scanner throws(Problem) in try scanner.skip(depth: depth + 1) }
        case UInt8(ascii: "\""): _ = try text()
        default:
            for name: StaticString in ["true", "false", "null"] where try word(name) { return bytes[start..<place] }
            try skipNumber()
        }
        return bytes[start..<place]
    }
}
