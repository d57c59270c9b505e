// A text as bytes, taken line by line and word by word: profiles have millions of lines, too many for a String each.

struct ByteLines {
    private let bytes: [UInt8]
    /// The number of the line, from 1.
    private(set) var number = 0
    private var start = 0
    private var place = 0
    private var end = 0
    private var next = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Goes on to the next line; false behind the last.
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

    /// The line from its beginning, cut where it is long.
    var text: String { String(decoding: bytes[start..<end].prefix(80), as: UTF8.self) }

    /// What is left of the line.
    var rest: String { String(decoding: bytes[place..<end], as: UTF8.self) }

    /// False where there was no blank.
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

    /// The letters before a `=` or a `:`, and which of the two it was; nil, and nothing is taken, where the line does not
    /// begin so. Keys are so short that no memory is asked for.
    mutating func takeKey() -> (key: String, mark: UInt8)? {
        var index = place
        while index < end, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[index]) { index += 1 }
        guard index > place, index < end, bytes[index] == UInt8(ascii: "=") || bytes[index] == UInt8(ascii: ":")
        else { return nil }
        defer { place = index + 1 }
        return (String(decoding: bytes[place..<index], as: UTF8.self), bytes[index])
    }

    /// A number from 0, decimal or with `0x`; nil, and nothing is taken, where there is none or it is too large.
    mutating func takeNumber() -> Int? {
        let before = place
        if let bits = takeBits(), let number = Int(exactly: bits) { return number }
        place = before
        return nil
    }

    /// One of 64 bits.
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

    /// `(12)`; nil, and nothing is taken, where there is no such thing.
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
