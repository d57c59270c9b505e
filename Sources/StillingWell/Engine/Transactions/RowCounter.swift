// The next object id of a table, or the next number of a large value. Kept in the `meta` table, so that the id of a
// deleted row is not used again.
import CStillingWellEngine
import CStillingWellLMDB

enum RowCounter {
    static func next(
        _ table: UInt32, _ transaction: LMDBTransaction, _ meta: MDB_dbi
    ) throws(EngineFailure) -> UInt64 {
        let stored = withKey(table) { key in
            Swift.Result { () throws(EngineFailure) in try LMDB.get(transaction, meta, key: key) }
        }
        guard let value = try stored.get() else { return 1 }
        // The upper half of the range is reserved, so that the ids that one write gives out cannot overflow.
        guard value.count == 8, case let next = value.loadUnaligned(as: UInt64.self), next < .max / 2 else {
            throw EngineFailure(code: MDB_CORRUPTED)
        }
        return next
    }

    /// - Returns: LMDB's code.
    static func store(_ table: UInt32, _ next: UInt64, _ transaction: LMDBTransaction, _ meta: MDB_dbi) -> Int32 {
        withKey(table) { LMDB.withEntry($0, next) { engine_put(transaction, meta, &$0, &$1, 0) } }
    }

    private static func withKey<Outcome>(_ table: UInt32, _ body: (UnsafeRawBufferPointer) -> Outcome) -> Outcome {
        var name = "next.\(table)"
        return name.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
