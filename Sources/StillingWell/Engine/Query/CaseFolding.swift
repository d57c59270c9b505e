// Unicode simple case folding: one scalar to one, so "ẞ" equals "ß" but "SS" does not. Composed from the case mappings
// of the standard library, which has no folding. Pure.

enum CaseFolding {
    /// The scalar that all case variants have in common.
    static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII { return Unicode.Scalar(fold(ascii: UInt8(scalar.value))) }
        guard scalar.properties.isCased else { return scalar }
        switch scalar.value {
        // A dotless i is no variant of i, despite its upper case (CaseFolding.txt gives it no folding).
        case 0x131: return scalar
        // Variants that no single-scalar mapping relates.
        case 0x1fd3: return "\u{390}"
        case 0x1fe3: return "\u{3b0}"
        case 0xfb05: return "\u{fb06}"
        default: break
        }
        // To upper case and then to lower, so that variants of a letter become equal: "ς" and "σ", "ſ" and "s".
        let upper = single(scalar.properties.uppercaseMapping) ?? scalar
        return single(upper.properties.lowercaseMapping) ?? upper
    }

    static func fold(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(fold(scalar)) }
        return String(scalars)
    }

    @inline(__always)
    private static func fold(ascii byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    private static func single(_ mapping: String) -> Unicode.Scalar? {
        let scalars = mapping.unicodeScalars
        guard let first = scalars.first, scalars.dropFirst().isEmpty else { return nil }
        return first
    }

    /// Runs `body` with the folded form of UTF-8 bytes. Short ones are folded on the stack.
    static func withFolded<Result>(
        _ source: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        // At worst, two bytes become three ("Ⱥ").
        withUnsafeTemporaryAllocation(byteCount: source.count * 3 / 2 + 4, alignment: 1) { buffer in
            var count = 0
            var index = 0
            while index < source.count, source[index] < 0x80 {
                buffer[index] = fold(ascii: source[index])
                index += 1
            }
            count = index
            var decoder = UTF8()
            var rest = source[index...].makeIterator()
            while index < source.count, case .scalarValue(let scalar) = decoder.decode(&rest) {
                for byte in UTF8.encode(fold(scalar)).unsafelyUnwrapped {
                    buffer[count] = byte
                    count += 1
                }
            }
            return body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
