// The table of large values: reads values, stores them under new numbers, and deletes those that no row refers to.
import CStillingWellEngine
import CStillingWellLMDB

extension Storage {
    /// Bytes of a value. O(log n), and O(bytes) unless the value is remembered as checked.
    func bytes(
        of value: LargeValue, _ transaction: LMDBTransaction
    ) throws(EngineFailure) -> UnsafeRawBufferPointer {
        guard let found = try LMDB.get(transaction, values, id: value.number), isWhole(value, found) else {
            throw .damagedValue(value.number)
        }
        return found
    }

    /// Returns whether bytes are the value. Skips the check of the bytes if the value is remembered as checked.
    func isWhole(_ value: LargeValue, _ found: UnsafeRawBufferPointer) -> Bool {
        let key = RankKey(value.number, UInt64(value.byteCount))
        if found.count == value.byteCount, checkedValues.contains(key, value.sum) { return true }
        guard value.isWhole(found) else { return false }
        checkedValues.insert(key, value.sum)
        return true
    }

    /// Stores a value under a number that is larger than those in use.
    func put(
        _ value: UnsafeRawBufferPointer, number: UInt64, _ transaction: LMDBTransaction
    ) throws(StoreError) -> LargeValue {
        try reserve(value.count)
        var place = MDB_val(mv_size: value.count, mv_data: nil)
        let flags = UInt32(MDB_RESERVE | MDB_APPEND)
        try check(LMDB.withNumber(number) { engine_put(transaction, values, &$0, &place, flags) }, "store large value")
        if let source = value.baseAddress { place.mv_data.copyMemory(from: source, byteCount: value.count) }
        if durability == .memory { try stored(at: UnsafeRawPointer(place.mv_data)) }
        return LargeValue(number: number, value)
    }

    /// Deletes values that no row refers to any more.
    func deleteValues(_ numbers: some Sequence<UInt64>, _ transaction: LMDBTransaction) throws(StoreError) {
        for number in numbers {
            try check(LMDB.withNumber(number) { engine_del(transaction, values, &$0, nil) }, "delete large value")
        }
    }
}

/// Reads large values while a store is opened, without a snapshot or a write. Used by one thread.
final class TransactionValues: LargeValueSource {
    private let storage: Storage
    private let transaction: LMDBTransaction
    private var found: EngineFailure?
    var failure: StoreError? { found.map { storage.error($0, "read large value") } }

    init(_ storage: Storage, _ transaction: LMDBTransaction) {
        (self.storage, self.transaction) = (storage, transaction)
    }

    func bytes(ofLarge number: UInt64, sum: UInt32, byteCount: Int) -> UnsafeRawBufferPointer {
        do throws(EngineFailure) {
            return try storage.bytes(of: LargeValue(number: number, sum: sum, byteCount: byteCount), transaction)
        } catch {
            found = found ?? error
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    /// Throws the first failure.
    func check() throws(EngineFailure) { if let found { throw found } }
}
