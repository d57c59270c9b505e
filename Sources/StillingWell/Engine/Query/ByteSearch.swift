// Finds some bytes in others, sixteen places at a time: a place is looked at where the first and the last of the wanted bytes stand as
// far apart as they should (W. Muła, SIMD-friendly algorithms for substring searching). A call of `memchr` for each place where the
// first byte stands costs more, in texts as short as rows have. Pure.
import Glibc

struct ByteSearch {
    private static let width = 16

    /// Of a part of no bytes nothing is looked at.
    private let part: UnsafeRawBufferPointer
    private let (firsts, lasts): (SIMD16<UInt8>, SIMD16<UInt8>)
    /// How far the last byte is from the first.
    private let last: Int
    /// Shorter values are searched one place after the other; all of them for a part of no bytes.
    private let fewestBytes: Int

    /// - Parameter part: what is searched for; it has to stay where it is.
    init(_ part: UnsafeRawBufferPointer) {
        self.part = part
        last = max(0, part.count - 1)
        fewestBytes = part.isEmpty ? .max : part.count - 1 + Self.width
        (firsts, lasts) = (SIMD16(repeating: part.first ?? 0), SIMD16(repeating: part.last ?? 0))
    }

    /// Whether it stands somewhere in `value`. O(length); O(length · part) at worst.
    @inline(__always)
    func isIn(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= fewestBytes else { return isInShort(value) }
        let base = value.baseAddress.unsafelyUnwrapped
        let lastPlace = value.count &- fewestBytes
        // Most texts have no more than 32 places: the first sixteen and the last sixteen, which may overlap, in one look.
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

    /// At which of sixteen places the first and the last byte are right: a byte each, not zero where they are.
    @inline(__always)
    private func hits(_ start: UnsafeRawPointer) -> SIMD2<UInt64> {
        let hits =
            (start.loadUnaligned(as: SIMD16<UInt8>.self) .== firsts)
            .& ((start + last).loadUnaligned(as: SIMD16<UInt8>.self) .== lasts)
        return unsafeBitCast(hits, to: SIMD2<UInt64>.self)
    }

    @inline(__always)
    private func isEmpty(_ hits: SIMD2<UInt64>) -> Bool { hits[0] | hits[1] == 0 }

    /// Whether all bytes are right at one of the places whose byte in `words` is not zero.
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

    /// The same for few places, one by one.
    @inline(never)
    private func isInShort(_ value: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= value.count else { return false }
        guard let base = value.baseAddress, let first = part.first else { return true }
        for place in 0...value.count - part.count where value[place] == first && isAt(base + place) { return true }
        return false
    }
}
