// What was found out once about an object that never goes away (a class, a key path), found again without a lock: a
// table of fixed size, whose slots are written once. What finds no slot is simply not kept.
//
// `lock` guards writing. A slot's number is written before its key is, and read after it.
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

    /// A power of two, well above the number of properties of a large model.
    private static let slotCount = 4_096

    private let slots: UnsafeMutablePointer<Slot>
    private let lock: TracedMutex

    init(_ name: String) {
        lock = TracedMutex(name)
        slots = .allocate(capacity: Self.slotCount)
        for index in 0..<Self.slotCount { (slots + index).initialize(to: Slot()) }
    }

    /// Addresses of objects are multiples of 16; Fibonacci hashing spreads the rest.
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

    /// Keeps a number, if there is room.
    /// - Returns: whether it was kept just now: then the object must never go away.
    func keep(_ value: Int, _ key: UnsafeRawPointer) -> Bool {
        let key = UInt(bitPattern: key)
        let slot = slot(key)
        // Who finds another one there each time takes no lock each time.
        if slot.pointee.key.load(ordering: .relaxed) != 0 { return false }
        return lock.withLock {
            guard slot.pointee.key.load(ordering: .relaxed) == 0 else { return false }
            slot.pointee.value.store(value, ordering: .relaxed)
            slot.pointee.key.store(key, ordering: .releasing)
            return true
        }
    }
}
