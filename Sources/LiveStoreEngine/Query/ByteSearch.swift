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

    /// - Parameter part: what is searched for; it has to stay where it is.
    init(_ part: UnsafeRawBufferPointer) {
        self.part = part
        last = max(0, part.count - 1)
        (firsts, lasts) = (SIMD16(repeating: part.first ?? 0), SIMD16(repeating: part.last ?? 0))
    }

    /// Whether it stands somewhere in `value`. O(length); O(length · part) at worst.
    @inline(__always)
    func isIn(_ value: UnsafeRawBufferPointer) -> Bool {
        let places = value.count &- part.count &+ 1
        guard places >= Self.width, let base = value.baseAddress, part.count > 0 else { return isInShort(value) }
        let lastPlace = places &- Self.width
        var place = 0
        while true {
            let start = base + place
            let hits =
                (start.loadUnaligned(as: SIMD16<UInt8>.self) .== firsts)
                .& ((start + last).loadUnaligned(as: SIMD16<UInt8>.self) .== lasts)
            let words = unsafeBitCast(hits, to: SIMD2<UInt64>.self)
            if words[0] | words[1] != 0, last < 2 || isAtHit(words, start) { return true }
            if place == lastPlace { return false }
            // The last sixteen places overlap with those before.
            place = min(place &+ Self.width, lastPlace)
        }
    }

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
