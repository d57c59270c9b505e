// Which nodes of lists' orders have been checked against their checksum in this process, so that a node that is read again costs a
// test. Remembered is not that a node is checked but what was found in it: its key with the checksum that it carries. A node that
// somebody has written anew carries another one. Any thread: each slot is one atomic number.
import Basis
import Synchronization

/// Unchecked because of the pointer, which never changes, to numbers that are atomic.
final class CheckedNodes: @unchecked Sendable {
    /// One that is put where another is remembered takes its place.
    private static let slotCount = 512

    private let slots: UnsafeMutablePointer<Atomic<UInt64>>

    init() {
        slots = .allocate(capacity: Self.slotCount)
        for slot in 0..<Self.slotCount { (slots + slot).initialize(to: Atomic(0)) }
    }

    deinit { slots.deallocate() }

    @inline(__always)
    private static func mix(_ key: RankKey, _ sum: UInt32) -> UInt64 {
        SplitMix64.mix(SplitMix64.mix(key.owner ^ UInt64(sum) << 32) ^ key.number)
    }

    @inline(__always)
    func contains(_ key: RankKey, _ sum: UInt32) -> Bool {
        let mixed = Self.mix(key, sum)
        return slots[Int(mixed & UInt64(Self.slotCount - 1))].load(ordering: .relaxed) == mixed
    }

    func insert(_ key: RankKey, _ sum: UInt32) {
        let mixed = Self.mix(key, sum)
        slots[Int(mixed & UInt64(Self.slotCount - 1))].store(mixed, ordering: .relaxed)
    }
}
