// LMDB readers of one process that keep the pages of the last flush: one that holds them, and one for the next flush.
// `state` is a leaf lock. The held transaction is also an atomic, which every write reads.
import CStillingWellLMDB
import Glibc
import StillingWellSync
import Synchronization

/// A read transaction of LMDB. Used by one thread at a time, the one that has taken it.
struct FlushReader: Sendable {
    // Unsafe because LMDB does not check it: the thread that has taken the reader uses it alone.
    nonisolated(unsafe) let transaction: LMDBTransaction

    /// Transaction number of the version that it reads.
    var number: UInt64 { LMDB.number(of: transaction) }
}

final class FlushReaders: Sendable {
    private struct State {
        var idle: [FlushReader] = []
        var hold: FlushReader?
        var slot: Int?
    }

    /// Value of `held` if no transaction is held.
    static let nothing = UInt64.max
    private static let count = 2

    // LMDB's functions may be called with it on any thread.
    nonisolated(unsafe) let environment: OpaquePointer
    private let page: SharedPage
    private let directory: String
    private let state = Guarded("flushed version", State())
    private let heldNumber = Atomic(FlushReaders.nothing)

    init(_ environment: OpaquePointer, _ page: SharedPage, _ directory: String) {
        (self.environment, self.page, self.directory) = (environment, page, directory)
    }

    /// Number of the held transaction, or `nothing`.
    @inline(__always)
    var held: UInt64 { heldNumber.load(ordering: .acquiring) }

    /// Makes the readers that flushes will need, so that none is missing later.
    func reserve() throws(StoreError) {
        try state.withLock { state throws(StoreError) in
            if state.slot == nil { state.slot = page.claimSlot() }
            while state.idle.count + (state.hold == nil ? 0 : 1) < Self.count { state.idle.append(try make()) }
        }
    }

    private func make() throws(StoreError) -> FlushReader {
        var reader: LMDBTransaction?
        try LMDB.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader), "begin reader", path: directory)
        mdb_txn_reset(reader)
        return FlushReader(transaction: reader!)
    }

    /// Begins to read at the newest version. Requires the flush mutex, so only one such read runs at a time.
    func begin() throws(StoreError) -> FlushReader {
        let reader = try state.withLock { state throws(StoreError) in
            if let reader = state.idle.popLast() { return reader }
            return try make()
        }
        try renew(reader)
        return reader
    }

    /// Begins to read at the newest version with the same reader.
    func begin(again reader: FlushReader) throws(StoreError) {
        mdb_txn_reset(reader.transaction)
        try renew(reader)
    }

    private func renew(_ reader: FlushReader) throws(StoreError) {
        let code = mdb_txn_renew(reader.transaction)
        state.withLock { state in
            if code != 0 { return state.idle.append(reader) }
            if let slot = state.slot { page.setHold(reader.number, .next, ofSlot: slot) }
        }
        try LMDB.check(code, "renew reader", path: directory)
    }

    func putBack(_ reader: FlushReader) {
        mdb_txn_reset(reader.transaction)
        state.withLock { state in
            if let slot = state.slot { page.setHold(0, .next, ofSlot: slot) }
            state.idle.append(reader)
        }
    }

    /// Holds the flushed version of `reader` in place of the one held before.
    func hold(_ reader: FlushReader) {
        state.withLock { state in
            if let before = state.hold {
                mdb_txn_reset(before.transaction)
                state.idle.append(before)
            }
            state.hold = reader
            heldNumber.store(reader.number, ordering: .releasing)
            guard let slot = state.slot else { return }
            page.setHold(reader.number, .held, ofSlot: slot)
            page.setHold(0, .next, ofSlot: slot)
        }
    }

    /// Releases the held version and the slot.
    func letGo() {
        state.withLock { state in
            heldNumber.store(Self.nothing, ordering: .releasing)
            if let hold = state.hold {
                mdb_txn_reset(hold.transaction)
                state.idle.append(hold)
            }
            if let slot = state.slot { page.releaseSlot(slot) }
            (state.hold, state.slot) = (nil, nil)
        }
    }

    /// Ends all readers. Called when the storage is closed, before LMDB's environment.
    func end() {
        letGo()
        state.withLock { state in
            for reader in state.idle { mdb_txn_abort(reader.transaction) }
            state.idle = []
        }
    }
}
