// Nodes of list orders, and large values, that this process has checked or written. An entry mixes the key with the
// checksum, so a node that another process writes again does not match. Any thread: each slot is one atomic.
import StillingWellBasis
import Synchronization

final class CheckedNodes: Sendable {
    /// Whether the lists of a property were found to have as many elements as there are element rows, or have too many
    /// nodes to be counted.
    let areCounted = Atomic(false)
    /// Slots by hash. A new entry replaces the one in its slot.
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
