// Numbers, durations and rates as text: strict parsing and canonical formatting. Pure functions.

/// Error for a text that is not a value of the expected kind: the end of a sentence.
package struct ValueFault: Error {
    package var message: String
    /// Position of the invalid part, if it is not the whole value.
    package var position: Position?

    package init(_ message: String, at position: Position? = nil) {
        (self.message, self.position) = (message, position)
    }
}

/// Position in a file, with line and column from 1.
package struct Position: Hashable, Comparable, Sendable {
    package static let start = Position(line: 1, column: 1)

    package var line: Int
    package var column: Int
    /// File index: 0 is the file itself, 1 the file that it extends, and so on.
    package var file = 0

    package init(line: Int, column: Int, file: Int = 0) {
        (self.line, self.column, self.file) = (line, column, file)
    }

    package static func < (a: Position, b: Position) -> Bool {
        (a.file, a.line, a.column) < (b.file, b.line, b.column)
    }
}

package enum Quantity {
    /// Parses `10_000`, `-3`, and `1e6` if it is integral.
    package static func integer(_ text: String) throws(ValueFault) -> Int {
        let numeral = try numeral(text, wanted: "a whole number such as 10_000")
        if let value = Int(numeral) { return value }
        let value = try finite(numeral, text)
        guard value == value.rounded() else { throw ValueFault("expects a whole number, found '\(clipped(text))'") }
        // Above 2^53, a Double no longer represents every integer.
        guard abs(value) <= 0x1p53 else { throw ValueFault("is out of range: '\(clipped(text))'") }
        return Int(value)
    }

    /// Parses a finite decimal number.
    package static func number(_ text: String) throws(ValueFault) -> Double {
        try finite(try numeral(text, wanted: "a number such as 0.5"), text)
    }

    /// Parses `100us`, `1.5s`, `2min`, `2h` into nanoseconds.
    /// - Parameter others: end of the list of units in the error for an unknown one.
    package static func durationNs(_ text: String, or others: String = "") throws(ValueFault) -> Int64 {
        let (amount, unit) = split(text)
        let wanted = "a duration such as 5s or 100us"
        let numeral = try numeral(amount, of: text, wanted: wanted)
        guard !unit.isEmpty else { throw ValueFault("needs a unit: \(clipped(text))s (or ns, us, ms, min, h)") }
        guard let nanoseconds = unitsNs[unit] else {
            let name = String(unit.drop(while: \.isWhitespace))
            if unitsNs[name] != nil {
                throw ValueFault("has a space before its unit (did you mean '\(amount)\(name)'?)")
            }
            let meant = misspelt[name.lowercased()].map { "did you mean '\(amount)\($0)'?" }
            throw ValueFault(
                "has the unknown unit '\(clipped(name))' (\(meant ?? "one of ns, us, ms, s, min, h\(others)"))")
        }
        let value = try finite(numeral, text) * Double(nanoseconds)
        guard abs(value) <= 0x1p53 else { throw ValueFault("is out of range: '\(clipped(text))'") }
        guard abs(value - value.rounded()) < 1e-3 else {
            throw ValueFault("is finer than a nanosecond: '\(clipped(text))'")
        }
        return Int64(value.rounded())
    }

    /// Parses `200/s` into events per second.
    package static func rateHz(_ text: String) throws(ValueFault) -> Double {
        let (amount, unit) = split(text)
        let numeral = try numeral(amount, of: text, wanted: "a rate such as 200/s")
        guard !unit.isEmpty else { throw ValueFault("needs a unit: \(clipped(text))/s") }
        guard unit == "/s" else {
            throw ValueFault("has the unknown unit '\(clipped(unit))' (rates are per second: \(amount)/s)")
        }
        return try finite(numeral, text)
    }

    // MARK: Writing

    /// Formats a number; integral values below 1e15 get no fraction: `1000`, `0.5`.
    package static func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    /// Formats a duration in the largest of h, s, ms, us, ns that needs no fraction: `1500ms`, `60s`, `2h`. 0 is `0s`.
    package static func text(durationNs: Int64) -> String {
        let units: [(String, Int64)] = [
            ("h", 3_600_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000),
        ]
        for (unit, nanoseconds) in units where durationNs % nanoseconds == 0 && (unit != "h" || durationNs != 0) {
            return "\(durationNs / nanoseconds)\(unit)"
        }
        return "\(durationNs)ns"
    }

    package static func text(rateHz: Double) -> String { text(rateHz) + "/s" }

    /// Clips text from a file to one line of at most 40 characters, for use in a message.
    package static func clipped(_ text: some StringProtocol) -> String {
        let line = text.map { $0.isNewline ? " " : $0 }
        return line.count <= 40 ? String(line) : String(line.prefix(37)) + "…"
    }

    // MARK: Reading

    private static let unitsNs: [String: Int64] = [
        "ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000,
        "h": 3_600_000_000_000,
    ]

    private static let misspelt: [String: String] = [
        "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "millis": "ms", "milliseconds": "ms",
        "usec": "us", "micros": "us", "microseconds": "us", "nanos": "ns", "nanoseconds": "ns", "m": "min",
        "mins": "min", "minute": "min", "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    ]

    /// Splits text into its leading numeral and the rest.
    private static func split(_ text: String) -> (amount: String, unit: String) {
        let scalars = Array(text.unicodeScalars)
        var end = 0
        while end < scalars.count {
            let exponent =
                "eE".unicodeScalars.contains(scalars[end]) && end + 1 < scalars.count
                && "0123456789+-".unicodeScalars.contains(scalars[end + 1])
            guard exponent || "0123456789_.+-".unicodeScalars.contains(scalars[end]) else { break }
            end += 1
        }
        func string(_ part: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(part)) }
        return (string(scalars[..<end]), string(scalars[end...]))
    }

    private static func finite(_ numeral: String, _ text: String) throws(ValueFault) -> Double {
        guard let value = Double(numeral), value.isFinite else {
            throw ValueFault("is out of range: '\(clipped(text))'")
        }
        return value
    }

    /// Returns `amount` without underscores if it is a decimal numeral: digits with single underscores between them,
    /// optional minus sign, fraction and exponent. Rejects a leading zero, because YAML 1.1 reads `010` as 8.
    private static func numeral(_ amount: String, of text: String? = nil, wanted: String) throws(ValueFault) -> String {
        let text = text ?? amount
        let word = text.lowercased().prefix { $0 != "/" }.drop { "+-.".contains($0) }
        if ["inf", "infinity", "nan"].contains(word) { throw ValueFault("must be finite, found '\(clipped(text))'") }
        guard !text.isEmpty else { throw ValueFault("expects \(wanted), found nothing") }

        var rest = Substring(amount)
        var result = ""
        if rest.first == "-" { result.append(rest.removeFirst()) }
        guard let whole = digits(&rest) else { throw ValueFault("expects \(wanted), found '\(clipped(text))'") }
        guard whole == "0" || !whole.hasPrefix("0") else {
            throw ValueFault("must not start with a zero, found '\(clipped(text))'")
        }
        result += whole
        if rest.first == "." {
            rest.removeFirst()
            guard let fraction = digits(&rest) else { throw ValueFault("expects \(wanted), found '\(clipped(text))'") }
            result += "." + fraction
        }
        if let exponent = rest.first, exponent == "e" || exponent == "E" {
            rest.removeFirst()
            result += "e"
            if let sign = rest.first, sign == "+" || sign == "-" { result.append(rest.removeFirst()) }
            guard let power = digits(&rest) else { throw ValueFault("expects \(wanted), found '\(clipped(text))'") }
            result += power
        }
        guard rest.isEmpty else { throw ValueFault("expects \(wanted), found '\(clipped(text))'") }
        return result
    }

    /// Removes leading ASCII digits, with single underscores between them, and returns them. Nil if there are none.
    private static func digits(_ text: inout Substring) -> String? {
        var result = ""
        while let character = text.first {
            if character == "_", !result.isEmpty, text.dropFirst().first?.isASCIIDigit == true {
                text.removeFirst()
            } else if character.isASCIIDigit {
                result.append(text.removeFirst())
            } else {
                break
            }
        }
        return result.isEmpty ? nil : result
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
