// Readers of the engine's that keep the pages of what was flushed last, for one process: one that holds, and one that a flush begins
// with. `state` is a leaf. What is held is also an atomic, which every write reads.
import CStillingWellLMDB
import Glibc
import StillingWellSync
import Synchronization

/// A read transaction of the engine's. Used by who has taken it, one thread at a time.
struct FlushReader: Sendable {
    // By whoever has taken it, one thread at a time.
    nonisolated(unsafe) let transaction: LMDBTransaction

    /// What it reads.
    var number: UInt64 { LMDB.number(of: transaction) }
}

final class FlushReaders: Sendable {
    private struct State {
        var idle: [FlushReader] = []
        var hold: FlushReader?
        var slot: Int?
    }

    /// No transaction.
    static let nothing = UInt64.max
    private static let count = 2

    // The engine's, which any thread may begin a transaction of.
    nonisolated(unsafe) private let environment: OpaquePointer
    private let page: SharedPage
    private let directory: String
    private let state = Guarded("flushed version", State())
    private let heldNumber = Atomic(FlushReaders.nothing)

    init(_ environment: OpaquePointer, _ page: SharedPage, _ directory: String) {
        (self.environment, self.page, self.directory) = (environment, page, directory)
    }

    /// The transaction that is held; `nothing` where none is.
    @inline(__always)
    var held: UInt64 { heldNumber.load(ordering: .acquiring) }

    /// Makes those that will be needed: none is to be short when something has to be flushed.
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

    /// Begins to read at the newest version. With the flush mutex, so that there is one at a time.
    func begin() throws(StoreError) -> FlushReader {
        let reader = try state.withLock { state throws(StoreError) in
            if let reader = state.idle.popLast() { return reader }
            return try make()
        }
        try renew(reader)
        return reader
    }

    /// The same once more.
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

    /// Holds what is read, which is flushed, instead of what was held before.
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

    /// Holds nothing.
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

    /// Ends them. When the storage goes, before the engine is closed.
    func end() {
        letGo()
        state.withLock { state in
            for reader in state.idle { mdb_txn_abort(reader.transaction) }
            state.idle = []
        }
    }
}
