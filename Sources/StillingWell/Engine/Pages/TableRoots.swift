// Root pages of a snapshot's tables, of which at most 16 are remembered. Roots are added under the lock of the
// snapshot's reader and read without it: each slot is one atomic, and `map` and `lastPage` are stored before it.
import CStillingWellLMDB
import Glibc
import Synchronization

/// Unchecked because of the pointers, which never change, to numbers that are atomic. No class: every look-up would
/// count a reference to it.
struct TableRoots: @unchecked Sendable {
    private static let slotCount = 16
    /// Bits of a slot that hold the table's handle. The bits above hold its root page.
    private static let handleBits: UInt64 = 12

    private struct Words: ~Copyable {
        let lastPage = Atomic<UInt64>(0)
        let map = Atomic<UInt>(0)
        let isEmpty = Atomic(true)
    }

    private let words: UnsafeMutablePointer<Words>
    /// Slots by handle modulo `slotCount`; 0 is an empty slot.
    private let slots: UnsafeMutablePointer<Atomic<UInt64>>

    init() {
        words = .allocate(capacity: 1)
        words.initialize(to: Words())
        slots = .allocate(capacity: Self.slotCount)
        for slot in 0..<Self.slotCount { (slots + slot).initialize(to: Atomic(0)) }
    }

    /// Frees the memory. Called when the reader is released.
    func free() {
        words.deallocate()
        slots.deallocate()
    }

    /// Forgets all roots. Called when the reader ends its transaction, so nothing reads by it.
    func forget() {
        if words.pointee.isEmpty.load(ordering: .relaxed) { return }
        for slot in 0..<Self.slotCount { slots[slot].store(0, ordering: .relaxed) }
        words.pointee.isEmpty.store(true, ordering: .relaxed)
    }

    @inline(__always)
    func known(_ handle: MDB_dbi) -> PageTree? {
        let known = slots[Int(handle) % Self.slotCount].load(ordering: .acquiring)
        guard known != 0, known & (1 << Self.handleBits - 1) == UInt64(handle),
            let map = UnsafeRawPointer(bitPattern: words.pointee.map.load(ordering: .relaxed))
        else { return nil }
        return PageTree(
            map: map, lastPage: words.pointee.lastPage.load(ordering: .relaxed), root: known >> Self.handleBits)
    }

    /// Looks up a table's root through LMDB. Returns nil if it finds none that it can use: the table may be empty, or
    /// its record damaged.
    func find(
        _ handle: MDB_dbi, _ name: [UInt8], _ transaction: LMDBTransaction, _ pageMap: PageMap
    ) throws(EngineFailure) -> PageTree? {
        let (rootOffset, recordBytes) = (40, 48)
        guard UInt64(handle) < 1 << Self.handleBits, pageMap.isKnown,
            let record = try name.withUnsafeBufferPointer({ (key) throws(EngineFailure) in
                try LMDB.get(transaction, LMDB.tables, key: UnsafeRawBufferPointer(key))
            }),
            record.count == recordBytes, let begin = record.baseAddress
        else { return nil }
        var info = MDB_envinfo()
        mdb_env_info(pageMap.environment, &info)
        let root = begin.loadUnaligned(fromByteOffset: rootOffset, as: UInt64.self)
        guard root > 0, root <= info.me_last_pgno,
            let found = pageMap.address(holding: begin, lastPage: info.me_last_pgno)
        else { return nil }
        words.pointee.map.store(UInt(bitPattern: found), ordering: .relaxed)
        words.pointee.lastPage.store(UInt64(clamping: info.me_last_pgno), ordering: .relaxed)
        words.pointee.isEmpty.store(false, ordering: .relaxed)
        slots[Int(handle) % Self.slotCount].store(root << Self.handleBits | UInt64(handle), ordering: .releasing)
        return PageTree(map: found, lastPage: UInt64(clamping: info.me_last_pgno), root: root)
    }
}
