// Text conditions: contains, begins with, ends with, like, and case-insensitive equality. Compares bytes.
// Without regard to case, both sides are compared as if after simple case folding.
import Foundation

/// Kind of a text condition.
enum TextMatch: Sendable, Hashable {
    case equals, contains, beginsWith, endsWith
    /// `*` matches any text, `?` one Unicode scalar; a backslash escapes the next character.
    case like
}

/// A text condition with its constant, folded once.
struct TextPattern: Sendable, Hashable {
    let match: TextMatch
    /// UTF-8 bytes, folded if `foldsCase`.
    let bytes: [UInt8]
    /// Empty unless `foldsCase`.
    private let folded: FoldedText
    let foldsCase: Bool

    init(_ match: TextMatch, _ text: String, foldsCase: Bool = false) {
        self.match = match
        self.foldsCase = foldsCase
        let constant = foldsCase ? CaseFolding.fold(text) : text
        bytes = Array(constant.utf8)
        folded = FoldedText(foldsCase ? constant : "")
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns whether UTF-8 bytes match. O(length); O(length · pattern) for `contains` and `like` at worst.
    func matches(_ value: UnsafeRawBufferPointer) -> Bool {
        bytes.withUnsafeBytes { passes(value, $0) }
    }

    /// Number of values that match. Nil does not match.
    @inline(__always)
    func count(_ count: Int, _ value: (Int) -> UnsafeRawBufferPointer?) -> Int {
        bytes.withUnsafeBytes { pattern in
            var found = 0
            if match == .contains, !foldsCase {
                let search = ByteSearch(pattern)
                for index in 0..<count {
                    if let value = value(index), search.isIn(value) { found &+= 1 }
                }
                return found
            }
            for index in 0..<count {
                if let value = value(index), passes(value, pattern) { found += 1 }
            }
            return found
        }
    }

    @inline(__always)
    private func passes(_ value: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
        foldsCase ? passesFolded(value, pattern) : compare(value, pattern)
    }

    private func passesFolded(_ value: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
        switch match {
        case .equals: folded.isEqual(to: value)
        case .beginsWith: folded.isPrefix(of: value)
        case .endsWith: folded.isSuffix(of: value)
        case .contains: folded.isIn(value)
        case .like: CaseFolding.withFolded(value) { Self.isLike($0, pattern) }
        }
    }

    private func compare(_ value: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
        switch match {
        case .equals: value.count == pattern.count && Self.isEqual(value, at: 0, pattern)
        case .beginsWith: Self.isEqual(value, at: 0, pattern)
        case .endsWith: Self.isEqual(value, at: value.count - pattern.count, pattern)
        case .contains: ByteSearch(pattern).isIn(value)
        case .like: Self.isLike(value, pattern)
        }
    }

    private static func isEqual(
        _ value: UnsafeRawBufferPointer, at offset: Int, _ part: UnsafeRawBufferPointer
    ) -> Bool {
        guard offset >= 0, part.count <= value.count - offset else { return false }
        return part.isEmpty || memcmp(value.baseAddress! + offset, part.baseAddress!, part.count) == 0
    }

    /// Goes back to the last star at a mismatch, instead of recursion.
    private static func isLike(_ value: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        var next = 0
        var retry: (at: Int, next: Int)?
        while at < value.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                next += 1
                retry = (at, next)
            } else if next < pattern.count, pattern[next] == UInt8(ascii: "?") {
                next += 1
                at = scalarEnd(value, at)
            } else if let literal = literal(pattern, next), pattern[literal] == value[at] {
                next = literal + 1
                at += 1
            } else if let from = retry {
                at = scalarEnd(value, from.at)
                next = from.next
                retry = (at, next)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }

    /// Index of the byte to compare: behind a backslash that escapes something.
    private static func literal(_ pattern: UnsafeRawBufferPointer, _ index: Int) -> Int? {
        guard index < pattern.count else { return nil }
        return pattern[index] == UInt8(ascii: "\\") && index + 1 < pattern.count ? index + 1 : index
    }

    private static func scalarEnd(_ value: UnsafeRawBufferPointer, _ start: Int) -> Int {
        var end = start + 1
        while end < value.count, value[end] & 0xc0 == 0x80 { end += 1 }
        return end
    }
}
