// Substring search, 16 places at a time: a place is checked if the first and the last byte match there (W. Muła,
// SIMD-friendly algorithms for substring searching). Faster for short texts than one `memchr` per first byte. Pure.
import Glibc

struct ByteSearch {
    private static let width = 16

    /// The wanted bytes; not read if empty.
    private let part: UnsafeRawBufferPointer
    private let (firsts, lasts): (SIMD16<UInt8>, SIMD16<UInt8>)
    /// Distance of the last byte from the first.
    private let last: Int
    /// Length from which values are searched 16 places at a time; `.max` for an empty pattern.
    private let fewestBytes: Int

    /// - Parameter part: the wanted bytes, which have to stay valid.
    init(_ part: UnsafeRawBufferPointer) {
        self.part = part
        last = max(0, part.count - 1)
        fewestBytes = part.isEmpty ? .max : part.count - 1 + Self.width
        (firsts, lasts) = (SIMD16(repeating: part.first ?? 0), SIMD16(repeating: part.last ?? 0))
    }

    /// Returns whether the bytes occur in `value`. O(length); O(length · part) at worst.
    @inline(__always)
    func isIn(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= fewestBytes else { return isInShort(value) }
        let base = value.baseAddress.unsafelyUnwrapped
        let lastPlace = value.count &- fewestBytes
        // Most texts have at most 32 places: check the first 16 and the last 16, which may overlap, at once.
        if lastPlace <= Self.width {
            let (first, second) = (hits(base), hits(base + lastPlace))
            if isEmpty(first | second) { return false }
            return last < 2 || isAtHit(first, base) || isAtHit(second, base + lastPlace)
        }
        var place = 0
        while true {
            let hits = hits(base + place)
            if !isEmpty(hits), last < 2 || isAtHit(hits, base + place) { return true }
            if place == lastPlace { return false }
            place = min(place &+ Self.width, lastPlace)
        }
    }

    /// Places of 16 at which the first and the last byte match: a byte each, not zero for a match.
    @inline(__always)
    private func hits(_ start: UnsafeRawPointer) -> SIMD2<UInt64> {
        let hits =
            (start.loadUnaligned(as: SIMD16<UInt8>.self) .== firsts)
            .& ((start + last).loadUnaligned(as: SIMD16<UInt8>.self) .== lasts)
        return unsafeBitCast(hits, to: SIMD2<UInt64>.self)
    }

    @inline(__always)
    private func isEmpty(_ hits: SIMD2<UInt64>) -> Bool { hits[0] | hits[1] == 0 }

    /// Returns whether all bytes match at one of the places with a non-zero byte in `words`.
    @inline(never)
    private func isAtHit(_ words: SIMD2<UInt64>, _ start: UnsafeRawPointer) -> Bool {
        for word in 0..<2 {
            var hits = words[word].littleEndian
            while hits != 0 {
                let byte = hits.trailingZeroBitCount >> 3
                if isAt(start + word * 8 + byte) { return true }
                hits &= ~(0xff << UInt64(byte * 8))
            }
        }
        return false
    }

    private func isAt(_ place: UnsafeRawPointer) -> Bool {
        part.baseAddress.map { memcmp(place, $0, part.count) == 0 } ?? true
    }

    /// Searches place by place, for short values.
    @inline(never)
    private func isInShort(_ value: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= value.count else { return false }
        guard let base = value.baseAddress, let first = part.first else { return true }
        for place in 0...value.count - part.count where value[place] == first && isAt(base + place) { return true }
        return false
    }
}
