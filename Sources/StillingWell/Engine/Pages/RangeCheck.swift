// Checks that a read met every entry of a range. LMDB follows page numbers without checking the page that it reaches.
// So "not found" and the end of a scan are valid only once the pages that could hold more entries have been checked
// (RangeLook.c).
import CStillingWellEngine
import CStillingWellLMDB
import StillingWellTree

enum RangeCheck {
    /// An entry next to a range.
    typealias Neighbour = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

    /// Checks that a read has met every entry of a range. O(log n + pages of the range).
    @inline(never)
    static func require(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, _ range: engine_range
    ) throws(EngineFailure) {
        var range = range
        let code = engine_check_range(transaction, table, &range, nil)
        if code != 0 { throw EngineFailure(code: code) }
    }

    /// Checks that a range has no entry.
    /// - Parameter check: verifies an entry next to the range, or one inside of it if a wrong page was reached. A page
    ///   of another table has no entry with a matching checksum.
    /// - Throws: errors of `check` and of `engine_check_range`.
    @inline(never)
    static func requireEmpty(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, _ range: engine_range,
        _ check: (Neighbour) throws(EngineFailure) -> Void
    ) throws(EngineFailure) {
        var (range, entries) = (range, (engine_entry(), engine_entry()))
        let code = withUnsafeMutableBytes(of: &entries) {
            engine_check_range(transaction, table, &range, $0.assumingMemoryBound(to: engine_entry.self).baseAddress)
        }
        if code != 0 { throw EngineFailure(code: code) }
        let (before, behind) = entries
        if before.key.mv_data != nil { try check((before.key.bytes, before.value.bytes)) }
        if behind.key.mv_data != nil { try check((behind.key.bytes, behind.value.bytes)) }
    }

    /// Checks that a scan by ids met every entry of the range.
    @inline(never)
    static func require(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, _ ids: ClosedRange<UInt64>
    ) throws(EngineFailure) {
        let failure = LMDB.withNumber(ids.lowerBound) { low in
            LMDB.withNumber(ids.upperBound) { high -> EngineFailure? in
                do throws(EngineFailure) {
                    try require(transaction, table, engine_range(keys: low, high))
                    return nil
                } catch {
                    return error
                }
            }
        }
        if let failure { throw failure }
    }
}

extension engine_range {
    /// Range of keys. `MDB_val()` stands for an open end.
    init(keys low: MDB_val, _ high: MDB_val) {
        self.init()
        (self.low, self.high) = (low, high)
    }
}
