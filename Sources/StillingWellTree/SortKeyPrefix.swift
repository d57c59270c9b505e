// Lengths of the leading parts of sort keys.

/// The structure of the start of keys.
package struct SortKeyPrefix: Sendable, Hashable {
    /// One encoded value. A descending part has all its bytes complemented.
    package struct Part: Sendable, Hashable {
        /// Bytes of a value. nil for variable length with the end mark 00 01; a zero byte within is encoded as 00 FF.
        package var width: Int?
        /// Whether the part begins with a byte that is 00 if there is no value.
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

    /// Returns how many of `bytes` the parts take. Keys shorter than eight bytes are padded with zeros, which no part
    /// reads.
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
    /// Mask that complements the bytes of a descending part.
    package var mask: UInt8 { ascending ? 0 : 0xff }

    /// Returns how many leading bytes of `bytes` this part takes.
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
            // 00 FF is a zero byte of the value and 00 01 the end mark, both before they are complemented.
            index += 2
            if bytes[index - 1] == mask ^ 1 { break }
        }
        return index
    }
}
