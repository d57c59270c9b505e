// A cache of a number per immortal object (a class or a key path), read without a lock. It is a table of fixed size
// whose slots are written once. A key without a free slot is not cached.
//
// `lock` guards writing. A slot's number is written before its key and read after it.
import Glibc
import StillingWellBasis
import StillingWellSync
import Synchronization

/// Numbers by address.
///
/// Unchecked because of the pointer, which never changes, to slots that are atomic.
final class PointerCache: @unchecked Sendable {
    private struct Slot: ~Copyable {
        let key = Atomic<UInt>(0)
        let value = Atomic<Int>(0)
    }

    /// A power of two.
    private static let slotCount = 4_096

    private let slots: UnsafeMutablePointer<Slot>
    private let lock: TracedMutex

    init(_ name: String) {
        lock = TracedMutex(name)
        // Zero bytes are empty slots.
        guard let memory = calloc(Self.slotCount, MemoryLayout<Slot>.stride) else {
            stopProgram("there is no memory for \(name)")
        }
        slots = memory.bindMemory(to: Slot.self, capacity: Self.slotCount)
    }

    /// Returns the slot of a key, by Fibonacci hashing.
    @inline(__always)
    private func slot(_ key: UInt) -> UnsafeMutablePointer<Slot> {
        slots + Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> (64 - 12))
    }

    @inline(__always)
    func value(_ key: UnsafeRawPointer) -> Int? {
        let key = UInt(bitPattern: key)
        let slot = slot(key)
        guard slot.pointee.key.load(ordering: .acquiring) == key else { return nil }
        return slot.pointee.value.load(ordering: .relaxed)
    }

    /// Caches a number if its slot is free.
    /// - Returns: whether it was added. Then the object must never be freed.
    func keep(_ value: Int, _ key: UnsafeRawPointer) -> Bool {
        let key = UInt(bitPattern: key)
        let slot = slot(key)
        // Tested without the lock, because a key whose slot is taken comes here every time.
        if slot.pointee.key.load(ordering: .relaxed) != 0 { return false }
        return lock.withLock {
            guard slot.pointee.key.load(ordering: .relaxed) == 0 else { return false }
            slot.pointee.value.store(value, ordering: .relaxed)
            slot.pointee.key.store(key, ordering: .releasing)
            return true
        }
    }
}
