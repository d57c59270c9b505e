// Reads bytes line by line and token by token. Profiles have millions of lines, too many to allocate a String for each.

struct ByteLines {
    private let bytes: [UInt8]
    /// The number of the line, from 1.
    private(set) var number = 0
    private var start = 0
    private var place = 0
    private var end = 0
    private var next = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Advances to the next line; returns false after the last one.
    mutating func advance() -> Bool {
        guard next < bytes.count else { return false }
        (start, place) = (next, next)
        end = bytes[next...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        next = end + 1
        number += 1
        return true
    }

    /// The next byte of the line; nil at its end.
    var first: UInt8? { place < end ? bytes[place] : nil }

    /// The first 80 bytes of the line.
    var text: String { String(decoding: bytes[start..<end].prefix(80), as: UTF8.self) }

    /// The unread part of the line.
    var rest: String { String(decoding: bytes[place..<end], as: UTF8.self) }

    /// Skips blanks and tabs; returns false if there are none.
    @discardableResult
    mutating func skipBlanks() -> Bool {
        let before = place
        while let byte = first, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { place += 1 }
        return place > before
    }

    @discardableResult
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    /// Reads lower-case letters before `=` or `:` and returns them with that byte. Returns nil, and reads nothing, if
    /// the line does not continue so. Callgrind's keys are short enough for inline strings, without allocation.
    mutating func takeKey() -> (key: String, mark: UInt8)? {
        var index = place
        while index < end, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[index]) { index += 1 }
        guard index > place, index < end, bytes[index] == UInt8(ascii: "=") || bytes[index] == UInt8(ascii: ":")
        else { return nil }
        defer { place = index + 1 }
        return (String(decoding: bytes[place..<index], as: UTF8.self), bytes[index])
    }

    /// Reads a decimal or `0x` number ≥ 0. Returns nil, and reads nothing, if there is none or it is too large.
    mutating func takeNumber() -> Int? {
        let before = place
        if let bits = takeBits(), let number = Int(exactly: bits) { return number }
        place = before
        return nil
    }

    /// Reads an unsigned 64-bit number.
    mutating func takeBits() -> UInt? {
        let isHexadecimal = place + 1 < end && bytes[place] == UInt8(ascii: "0") && bytes[place + 1] | 0x20 == 0x78
        let radix = isHexadecimal ? 16 : 10
        let from = isHexadecimal ? place + 2 : place
        var (index, value) = (from, UInt(0))
        while index < end, let digit = Self.digit(bytes[index]), digit < radix {
            let (product, isLarge) = value.multipliedReportingOverflow(by: UInt(radix))
            let (sum, isLarger) = product.addingReportingOverflow(UInt(digit))
            guard !isLarge, !isLarger else { return nil }
            value = sum
            index += 1
        }
        guard index > from else { return nil }
        place = index
        return value
    }

    /// Reads `(12)`. Returns nil, and reads nothing, if the line does not continue so.
    mutating func takeID() -> Int? {
        let before = place
        if take("("), let id = takeNumber(), take(")") { return id }
        place = before
        return nil
    }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte) - 0x61 + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte) - 0x41 + 10
        default: nil
        }
    }
}
