// An index read as the order of its column: keys from either end, and under each key the rows from either end. Of keys that were
// cut, only the rows' own values say which comes first.
import CStillingWellEngine
import CStillingWellLMDB

/// Which way an order is gone through.
struct IndexDirection {
    /// Whether small keys come first.
    var keysAscend: Bool
    /// Whether, of the rows of one key, those of small ids come first.
    var idsAscend: Bool
}

extension ColumnIndex {
    /// Whether rows of this key may have different values.
    static func isCut(_ key: UnsafeRawBufferPointer) -> Bool { key.count >= maxKeyBytes }

    /// Visits rows in the order of their keys, from one key to below another, until `body` returns false. The ends may be cut,
    /// and then rows beyond them are visited too.
    /// - Parameter body: takes the key, the row, and whether it is the first one of its key.
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
                // To the other end of the key's rows. Not by `MDB_FIRST_DUP`: behind `MDB_LAST` the cursor takes the rows for read,
                // and goes to no other one.
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
            // A page that is led to twice may be led to without an end.
            if isFound, !(direction.keysAscend ? last.precedes(key.bytes) : key.bytes.precedes(last)) {
                throw damaged
            }
        }
        try require(transaction, first, end, engine_entry(), direction, isEmpty)
    }

    /// Checks that a walk has passed no entry over.
    /// - Parameter last: where it ended before the end of the range.
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

    /// Goes to the first key there is in a direction.
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

    /// Visits the rows of the key that the cursor stands at.
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

    /// The keys that candidates have: from one to below another. No key is empty, which stands for no end.
    static func bounds(from low: [UInt8]?, below high: [UInt8]?) -> (first: [UInt8], end: [UInt8]) {
        // Of keys that are cut alike all are candidates.
        let end = high.flatMap { $0.count > maxKeyBytes ? SortKeyBytes.successor(of: cut($0)) : $0 }
        return (low.map(cut) ?? [], end ?? [])
    }

    private static func cut(_ key: [UInt8]) -> [UInt8] { key.count > maxKeyBytes ? Array(key[..<maxKeyBytes]) : key }
}
