// Checks the size, the characters and the nesting of a file before YAML parsing. Pure.
import Foundation
import TidegaugeSpec

/// Text that has passed these checks.
struct YAMLText {
    /// Maximum size of a scenario file (1 MiB).
    static let maximumBytes = 1 << 20
    /// Maximum nesting of brackets. The parser recurses once per level; scenarios have at most six levels.
    static let maximumNesting = 64

    /// The text without a byte order mark.
    let scalars: [Unicode.Scalar]

    /// Checks `bytes` and reports only the first problem, because the text after it is not reliable.
    init?(_ bytes: [UInt8], into problems: inout ProblemList) {
        guard !bytes.isEmpty else {
            problems.add(.start, "the file is empty; a scenario starts with 'purpose: …'")
            return nil
        }
        guard bytes.count <= Self.maximumBytes else {
            problems.add(.start, "the file is longer than \(Self.maximumBytes) bytes; a scenario is a page")
            return nil
        }
        guard let text = Self.decode(bytes, into: &problems) else { return nil }
        scalars = text
        guard checkScalars(into: &problems), checkNesting(into: &problems) else { return nil }
    }

    private static func decode(_ bytes: [UInt8], into problems: inout ProblemList) -> [Unicode.Scalar]? {
        var decoder = UTF8()
        var input = bytes.makeIterator()
        var scalars: [Unicode.Scalar] = []
        scalars.reserveCapacity(bytes.count)
        while true {
            switch decoder.decode(&input) {
            case .scalarValue(let scalar): scalars.append(scalar)
            case .emptyInput:
                if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
                return scalars
            case .error:
                let offset = scalars.reduce(0) { $0 + UTF8.width($1) }
                problems.add(
                    Self.position(of: scalars.count, in: scalars),
                    "byte \(offset) is not UTF-8; a scenario file is text, encoded in UTF-8")
                return nil
            }
        }
    }

    private func checkScalars(into problems: inout ProblemList) -> Bool {
        for (index, scalar) in scalars.enumerated() {
            let trouble: String? =
                switch scalar.value {
                case 0: "a NUL character; this is a binary file, not a scenario"
                case 0x09, 0x0A, 0x0D, 0x85: nil
                case 0x01...0x1F, 0x7F...0x9F, 0xFEFF, 0xFFFE, 0xFFFF: "a control character; remove it"
                // Private-use characters are reserved as marks: see `YAMLTree`.
                case 0xE000...0xF8FF: "a private-use character; remove it"
                default: nil
                }
            guard let trouble else { continue }
            let code = String(scalar.value, radix: 16, uppercase: true)
            problems.add(Self.position(of: index, in: scalars), "U+\(code) is \(trouble)")
            return false
        }
        return true
    }

    /// Limits nested brackets, including those in comments and quotes.
    private func checkNesting(into problems: inout ProblemList) -> Bool {
        var depth = 0
        for (index, scalar) in scalars.enumerated() {
            if scalar == "[" || scalar == "{" { depth += 1 }
            if scalar == "]" || scalar == "}" { depth = max(0, depth - 1) }
            if depth > Self.maximumNesting {
                problems.add(
                    Self.position(of: index, in: scalars), "brackets are nested deeper than \(Self.maximumNesting)")
                return false
            }
        }
        return true
    }

    // MARK: Places

    /// Line and column of the scalar at `index`, counted like libYAML. O(index).
    static func position(of index: Int, in scalars: [Unicode.Scalar]) -> Position {
        var position = Position.start
        for i in 0..<index {
            if endsLine(i, in: scalars) {
                position = Position(line: position.line + 1, column: 1)
            } else {
                position.column += 1
            }
        }
        return position
    }

    /// Index of the first scalar of each line. Line n starts at [n − 1].
    static func lineStarts(in scalars: [Unicode.Scalar]) -> [Int] {
        [0] + scalars.indices.filter { endsLine($0, in: scalars) }.map { $0 + 1 }
    }

    private static func endsLine(_ index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        switch scalars[index].value {
        case 0x0A, 0x85, 0x2028, 0x2029: true
        case 0x0D: index + 1 == scalars.count || scalars[index + 1] != "\n"
        default: false
        }
    }
}
