// A text that values are compared with without regard to case. For each of its scalars it holds the UTF-8 bytes of all
// scalars that fold to it, so values are neither folded nor decoded, and are read only as far as the comparison goes.
// Requires valid UTF-8. Pure.
import StillingWellBasis

struct FoldedText: Sendable, Hashable {
    /// Bit of a skip whose byte may be the last of the searched bytes. The other bits are the distance.
    private static let mayBeLast: UInt8 = 0x80

    /// Bytes of up to four scalars that fold to each scalar of the text. The first byte is the lowest. If there are
    /// fewer scalars, the first is repeated.
    private let forms: [SIMD4<UInt32>]
    /// Number of scalars of the text before the bytes that are searched for.
    private let scalarsBefore: Int
    /// Distance of the last searched byte from the first.
    private let last: Int
    /// Distance to the next place, by the byte at the place of the last searched byte (R. N. Horspool, Practical fast
    /// searching in strings). Empty for an empty text.
    private let skips: [UInt8]

    /// - Parameter folded: a folded text.
    init(_ folded: String) {
        forms = folded.unicodeScalars.map { scalar in
            var form = SIMD4<UInt32>(repeating: Self.bytes(of: scalar))
            let variants = CaseFolding.variants(of: scalar)
            stopUnless(variants.count <= form.scalarCount, "a letter has at most four case variants")
            for (index, variant) in variants.enumerated() { form[index] = Self.bytes(of: variant) }
            return form
        }
        let (before, run) = Self.searched(forms)
        (scalarsBefore, last) = (before, max(0, run.count - 1))
        var skips = [UInt8](repeating: UInt8(run.count), count: run.isEmpty ? 0 : 256)
        for (place, bytes) in run.enumerated() {
            for byte in bytes.indices.map({ Int(bytes[$0]) }) {
                skips[byte] = place < last ? UInt8(last - place) : skips[byte] | Self.mayBeLast
            }
        }
        self.skips = skips
    }

    static func == (a: FoldedText, b: FoldedText) -> Bool { a.forms == b.forms }
    func hash(into hasher: inout Hasher) { hasher.combine(forms) }

    /// Returns the bytes to be searched for, each with its forms, and the number of scalars before them. They are the
    /// longest run of scalars whose forms have equal lengths. If there is none, they are the first byte of the text.
    private static func searched(_ forms: [SIMD4<UInt32>]) -> (scalarsBefore: Int, bytes: [SIMD4<UInt8>]) {
        var longest: (before: Int, bytes: [SIMD4<UInt8>]) = (0, forms.prefix(1).map { SIMD4(truncatingIfNeeded: $0) })
        var run: [SIMD4<UInt8>] = []
        var before = 0
        for (index, form) in forms.enumerated() {
            let width = byteCount(form[0])
            if form.indices.allSatisfy({ byteCount(form[$0]) == width }) {
                run += (0..<width).map { SIMD4<UInt8>(truncatingIfNeeded: form &>> UInt32(8 * $0)) }
            } else {
                (before, run) = (index + 1, [])
            }
            if run.count >= longest.bytes.count { longest = (before, run) }
        }
        return (longest.before, Array(longest.bytes.prefix(Int(mayBeLast) - 1)))
    }

    /// Number of UTF-8 bytes of a form.
    private static func byteCount(_ form: UInt32) -> Int { max(1, 4 - form.leadingZeroBitCount / 8) }

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
        isAt(Self.start(of: forms.count, before: value.count, value), value)
    }

    /// Returns whether the text occurs in `value`. O(length); O(length · text) at worst.
    func isIn(_ value: UnsafeRawBufferPointer) -> Bool {
        if skips.isEmpty { return true }
        return skips.withUnsafeBufferPointer { skips in
            var place = last
            while place < value.count {
                let skip = skips[Int(value[place])]
                if skip & Self.mayBeLast != 0,
                    isAt(Self.start(of: scalarsBefore, before: place &- last, value), value)
                {
                    return true
                }
                place &+= Int(skip & ~Self.mayBeLast)
            }
            return false
        }
    }

    /// Returns whether the text is at `start`; false for nil.
    @inline(never)
    private func isAt(_ start: Int?, _ value: UnsafeRawBufferPointer) -> Bool {
        guard let start else { return false }
        return forms.withUnsafeBufferPointer { Self.end($0, value, from: start) != nil }
    }

    /// Start of the `count` scalars that end at `place`, or nil if there are fewer.
    @inline(__always)
    private static func start(of count: Int, before place: Int, _ value: UnsafeRawBufferPointer) -> Int? {
        var start = place
        for _ in 0..<count {
            if start == 0 { return nil }
            start -= 1
            while start > 0, value[start] & 0xc0 == 0x80 { start -= 1 }
        }
        return start
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
