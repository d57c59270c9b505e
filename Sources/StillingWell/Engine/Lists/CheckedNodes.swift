// Which nodes of lists' orders, and which large values, have been checked against their checksum in this process, so that one that is
// read again costs a test. Remembered is not that it is checked but what was found in it: its key with the checksum that it
// carries. One that somebody has written anew carries another one. Any thread: each slot is one atomic number.
import StillingWellBasis
import Synchronization

final class CheckedNodes: Sendable {
    /// Whether the lists of a property were found to have as many elements as there are element rows.
    let areCounted = Atomic(false)
    /// One that is put where another is remembered takes its place.
    private let slots = InlineArray<512, Atomic<UInt64>> { _ in Atomic(0) }

    @inline(__always)
    private static func mix(_ key: RankKey, _ sum: UInt32) -> UInt64 {
        SplitMix64.mix(SplitMix64.mix(key.owner ^ UInt64(sum) << 32) ^ key.number)
    }

    @inline(__always)
    private static func slot(_ mixed: UInt64) -> Int { Int(mixed & 511) }

    @inline(__always)
    func contains(_ key: RankKey, _ sum: UInt32) -> Bool {
        let mixed = Self.mix(key, sum)
        return slots[Self.slot(mixed)].load(ordering: .relaxed) == mixed
    }

    func insert(_ key: RankKey, _ sum: UInt32) {
        let mixed = Self.mix(key, sum)
        slots[Self.slot(mixed)].store(mixed, ordering: .relaxed)
    }
}
