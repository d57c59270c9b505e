// A text that values are compared with without regard to case. For each of its scalars it holds the UTF-8 bytes of all
// scalars that fold to it, so values are neither folded nor decoded, and are read only as far as the comparison goes.
// Requires valid UTF-8. Pure.
import StillingWellBasis

struct FoldedText: Sendable, Hashable {
    private static let width = 16

    /// Bytes of up to four scalars that fold to each scalar of the text. The first byte is the lowest. If there are
    /// fewer scalars, the first is repeated.
    private let forms: [SIMD4<UInt32>]

    /// - Parameter folded: a folded text.
    init(_ folded: String) {
        forms = folded.unicodeScalars.map { scalar in
            var form = SIMD4<UInt32>(repeating: Self.bytes(of: scalar))
            let variants = CaseFolding.variants(of: scalar)
            stopUnless(variants.count <= form.scalarCount, "a letter has at most four case variants")
            for (index, variant) in variants.enumerated() { form[index] = Self.bytes(of: variant) }
            return form
        }
    }

    private static func bytes(of scalar: Unicode.Scalar) -> UInt32 {
        var (bytes, shift): (UInt32, UInt32) = (0, 0)
        for byte in UTF8.encode(scalar).unsafelyUnwrapped {
            bytes |= UInt32(byte) << shift
            shift += 8
        }
        return bytes
    }

    func isEqual(to value: UnsafeRawBufferPointer) -> Bool {
        forms.withUnsafeBufferPointer { Self.end($0, value, from: 0) == value.count }
    }

    func isPrefix(of value: UnsafeRawBufferPointer) -> Bool {
        forms.withUnsafeBufferPointer { Self.end($0, value, from: 0) != nil }
    }

    func isSuffix(of value: UnsafeRawBufferPointer) -> Bool {
        // Folding changes no number of scalars.
        var start = value.count
        for _ in 0..<forms.count {
            if start == 0 { return false }
            start -= 1
            while start > 0, value[start] & 0xc0 == 0x80 { start -= 1 }
        }
        return forms.withUnsafeBufferPointer { Self.end($0, value, from: start) != nil }
    }

    /// Returns whether the text occurs in `value`. O(length); O(length · text) at worst.
    func isIn(_ value: UnsafeRawBufferPointer) -> Bool {
        forms.withUnsafeBufferPointer { forms in
            guard let first = forms.first else { return true }
            let bytes = SIMD4<UInt8>(truncatingIfNeeded: first)
            guard value.count >= Self.width else {
                for place in 0..<value.count
                where any(bytes .== SIMD4(repeating: value[place])) && Self.end(forms, value, from: place) != nil {
                    return true
                }
                return false
            }
            // A place is looked at if its byte begins one of the variants of the first scalar.
            let base = value.baseAddress.unsafelyUnwrapped
            var place = 0
            while true {
                let block = (base + place).loadUnaligned(as: SIMD16<UInt8>.self)
                let hits =
                    (block .== SIMD16(repeating: bytes[0])) .| (block .== SIMD16(repeating: bytes[1]))
                    .| (block .== SIMD16(repeating: bytes[2])) .| (block .== SIMD16(repeating: bytes[3]))
                let words = unsafeBitCast(hits, to: SIMD2<UInt64>.self)
                if words[0] | words[1] != 0, Self.isAtHit(words, forms, value, place) { return true }
                if place == value.count &- Self.width { return false }
                // The last block may overlap the one before it.
                place = min(place &+ Self.width, value.count &- Self.width)
            }
        }
    }

    /// Returns whether the text is at one of the places with a non-zero byte in `words`.
    @inline(never)
    private static func isAtHit(
        _ words: SIMD2<UInt64>, _ forms: UnsafeBufferPointer<SIMD4<UInt32>>, _ value: UnsafeRawBufferPointer,
        _ start: Int
    ) -> Bool {
        for word in 0..<2 {
            var hits = words[word].littleEndian
            while hits != 0 {
                let byte = hits.trailingZeroBitCount >> 3
                if end(forms, value, from: start + word * 8 + byte) != nil { return true }
                hits &= ~(0xff << UInt64(byte * 8))
            }
        }
        return false
    }

    /// Returns the end of the text in `value` if it begins at `start`, otherwise nil.
    @inline(__always)
    private static func end(
        _ forms: UnsafeBufferPointer<SIMD4<UInt32>>, _ value: UnsafeRawBufferPointer, from start: Int
    ) -> Int? {
        var place = start
        for index in 0..<forms.count {
            guard place < value.count else { return nil }
            let first = value[place]
            // A first byte begins with as many ones as its scalar has bytes, or with none.
            let count = first < 0x80 ? 1 : min((~first).leadingZeroBitCount, 4, value.count &- place)
            var bytes: UInt32 = 0
            for byte in 0..<count { bytes |= UInt32(value[place &+ byte]) << UInt32(8 &* byte) }
            guard any(forms[index] .== SIMD4(repeating: bytes)) else { return nil }
            place &+= count
        }
        return place
    }
}
