// Reads an index in the order of its column: keys from either end, and the rows of each key from either end. For cut
// keys, only the rows' values decide their order.
import CStillingWellEngine
import CStillingWellLMDB

/// Direction of a walk over an index.
struct IndexDirection {
    /// Whether small keys come first.
    var keysAscend: Bool
    /// Whether, among rows of one key, small ids come first.
    var idsAscend: Bool
}

extension ColumnIndex {
    /// Returns whether rows of this key may have different values.
    static func isCut(_ key: UnsafeRawBufferPointer) -> Bool { key.count >= maxKeyBytes }

    /// Visits rows in the order of their keys, from `low` to below `high`, until `body` returns false. If a bound is
    /// longer than a key can be, rows beyond it may be visited too.
    /// - Parameter body: gets the key, the row's id, and whether the row is the first one of its key.
    func walk(
        _ transaction: LMDBTransaction, from low: [UInt8]?, below high: [UInt8]?, _ direction: IndexDirection,
        _ body: (UnsafeRawBufferPointer, ObjectID, Bool) -> Bool
    ) throws(EngineFailure) {
        let cursor = try LMDB.openCursor(transaction, handle)
        defer { mdb_cursor_close(cursor) }
        let (first, end) = Self.bounds(from: low, below: high)
        var key = MDB_val()
        var value = MDB_val()
        var isFound = try start(cursor, &key, &value, first, end, direction)
        var isEmpty = true
        while isFound, Self.isWithin(key.bytes, first, end) {
            if !isUnique, direction.keysAscend != direction.idsAscend {
                // Moves to the other end of the key's rows. `MDB_FIRST_DUP` does not work: after `MDB_LAST` the cursor
                // takes the rows as read and moves to no other.
                let step = direction.idsAscend ? MDB_SET : MDB_LAST_DUP
                guard try LMDB.found(engine_cursor_get(cursor, &key, &value, step)) else {
                    throw EngineFailure(code: MDB_CORRUPTED)
                }
            }
            isEmpty = false
            guard try visit(cursor, key.bytes, &value, direction.idsAscend ? MDB_NEXT_DUP : MDB_PREV_DUP, body) else {
                return try require(transaction, first, end, engine_entry(key: key, value: value), direction, isEmpty)
            }
            let last = key.bytes
            let step = isUnique ? (MDB_NEXT, MDB_PREV) : (MDB_NEXT_NODUP, MDB_PREV_NODUP)
            isFound = try LMDB.found(
                engine_cursor_get(cursor, &key, &value, direction.keysAscend ? step.0 : step.1))
            // A page that two entries lead to can make the walk endless.
            if isFound, !(direction.keysAscend ? last.precedes(key.bytes) : key.bytes.precedes(last)) {
                throw damaged
            }
        }
        try require(transaction, first, end, engine_entry(), direction, isEmpty)
    }

    /// Checks that a walk skipped no entry.
    /// - Parameter last: the entry at which the walk stopped before the end of the range.
    private func require(
        _ transaction: LMDBTransaction, _ first: [UInt8], _ end: [UInt8], _ last: engine_entry,
        _ direction: IndexDirection, _ isEmpty: Bool
    ) throws(EngineFailure) {
        let failure = first.withUnsafeBytes { low in
            end.withUnsafeBytes { high -> EngineFailure? in
                var range = engine_range(
                    keys: first.isEmpty ? MDB_val() : MDB_val(low), end.isEmpty ? MDB_val() : MDB_val(high))
                if last.key.mv_data != nil {
                    if direction.keysAscend { range.high = last.key } else { range.low = last.key }
                }
                (range.end, range.is_backward) = (last, !direction.idsAscend)
                return check(transaction, range, isEmpty)
            }
        }
        if let failure { throw failure }
    }

    /// Moves to the first key of a direction. Returns false if there is none.
    private func start(
        _ cursor: LMDBCursor, _ key: inout MDB_val, _ value: inout MDB_val, _ first: [UInt8], _ end: [UInt8],
        _ direction: IndexDirection
    ) throws(EngineFailure) -> Bool {
        let (place, isEdge) = direction.keysAscend ? (first, first.isEmpty) : (end, end.isEmpty)
        let edge = direction.keysAscend ? MDB_FIRST : MDB_LAST
        if isEdge { return try LMDB.found(engine_cursor_get(cursor, &key, &value, edge)) }
        let code = place.withUnsafeBytes { bytes in
            key = MDB_val(bytes)
            return engine_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
        }
        let isFound = try LMDB.found(code)
        if direction.keysAscend { return isFound }
        return try LMDB.found(engine_cursor_get(cursor, &key, &value, isFound ? MDB_PREV : MDB_LAST))
    }

    /// Visits the rows of the key at the cursor. Returns false if `body` did.
    private func visit(
        _ cursor: LMDBCursor, _ key: UnsafeRawBufferPointer, _ value: inout MDB_val, _ step: MDB_cursor_op,
        _ body: (UnsafeRawBufferPointer, ObjectID, Bool) -> Bool
    ) throws(EngineFailure) -> Bool {
        var isFirst = true
        let sum = Checksum.key(key, table, isUnique ? nil : column)
        var same = MDB_val()
        while true {
            guard let id = IDEntry.id(value.bytes, key: sum) else {
                throw damaged
            }
            if !body(key, ObjectID(rawValue: id), isFirst) { return false }
            isFirst = false
            if isUnique { return true }
            guard try LMDB.found(engine_cursor_get(cursor, &same, &value, step)) else { return true }
        }
    }

    private static func isWithin(_ key: UnsafeRawBufferPointer, _ first: [UInt8], _ end: [UInt8]) -> Bool {
        !first.withUnsafeBytes { key.precedes($0) } && (end.isEmpty || end.withUnsafeBytes { key.precedes($0) })
    }

    /// Bounds of the stored keys that can match. An empty bound is an open end: no key is empty.
    static func bounds(from low: [UInt8]?, below high: [UInt8]?) -> (first: [UInt8], end: [UInt8]) {
        // Keys that are equal after the cut are all candidates.
        let end = high.flatMap { $0.count > maxKeyBytes ? SortKeyBytes.successor(of: cut($0)) : $0 }
        return (low.map(cut) ?? [], end ?? [])
    }

    private static func cut(_ key: [UInt8]) -> [UInt8] { key.count > maxKeyBytes ? Array(key[..<maxKeyBytes]) : key }
}
