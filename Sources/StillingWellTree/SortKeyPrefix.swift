// The parts that sort keys begin with, as far as a tree has to know them: where they end. What they mean is known to whoever
// makes the keys.

/// What stands at the start of keys. Immutable.
package struct SortKeyPrefix: Sendable, Hashable {
    /// One value. A part that is not ascending has all its bytes complemented.
    package struct Part: Sendable, Hashable {
        /// How many bytes a value takes; nil for one that goes on to its end mark: 00 01, a zero of its own being 00 FF.
        package var width: Int?
        /// Whether a byte comes first that is 00 where there is no value.
        package var isOptional: Bool
        package var ascending: Bool

        package init(width: Int?, isOptional: Bool, ascending: Bool) {
            self.width = width
            self.isOptional = isOptional
            self.ascending = ascending
        }
    }

    private let parts: [Part]

    package init(_ parts: [Part]) { self.parts = parts }

    /// How many of `bytes` the parts take. Keys shorter than eight bytes are padded with zeros: no part reads those.
    package func length(in bytes: UnsafeRawBufferPointer) -> Int {
        var start = 0
        for part in parts {
            start += part.length(in: UnsafeRawBufferPointer(rebasing: bytes[min(start, bytes.count)...]))
        }
        return min(start, bytes.count)
    }

    package func length(in bytes: ArraySlice<UInt8>) -> Int { bytes.withUnsafeBytes { length(in: $0) } }
}

extension SortKeyPrefix.Part {
    /// What a byte is complemented with.
    package var mask: UInt8 { ascending ? 0 : 0xff }

    /// How many bytes the part takes that `bytes` begin with.
    package func length(in bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { min(length(in: $0), bytes.count) }
    }

    @inline(__always)
    fileprivate func length(in bytes: UnsafeRawBufferPointer) -> Int {
        guard isOptional else { return plainLength(bytes, from: 0) }
        return bytes.first == mask ? 1 : plainLength(bytes, from: 1)
    }

    @inline(__always)
    private func plainLength(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        if let width { return start + width }
        var index = start
        while index + 1 < bytes.count {
            guard bytes[index] == mask else {
                index += 1
                continue
            }
            // A zero is followed by FF, the end by 01.
            index += 2
            if bytes[index - 1] == mask ^ 1 { break }
        }
        return index
    }
}
