// Finds the rows that are both deleted and inserted in a difference: rows whose key changed. Uses a small
// open-addressing table, because the hashing of a dictionary is slow.

enum ObjectPairing {
    /// Returns for each of `deleted` the index in `inserted` of the row with the same object id, or nil. Expected
    /// O(deleted + inserted).
    static func partners(of deleted: [TreeDifference.Row], in inserted: [TreeDifference.Row]) -> [Int?] {
        // Most common case: one deleted row.
        if deleted.count == 1 { return [inserted.firstIndex { $0.key.id == deleted[0].key.id }] }
        if deleted.isEmpty || inserted.isEmpty { return Array(repeating: nil, count: deleted.count) }
        if inserted.count <= 8 { return deleted.map { row in inserted.firstIndex { $0.key.id == row.key.id } } }
        // At most half full, to keep probes short.
        let bits = Int.bitWidth - (inserted.count * 2 - 1).leadingZeroBitCount
        let mask = 1 << bits - 1
        var table = [Int](repeating: -1, count: 1 << bits)
        for (index, row) in inserted.enumerated() {
            var slot = home(of: row.key.id, bits: bits)
            while table[slot] >= 0 { slot = (slot + 1) & mask }
            table[slot] = index
        }
        return deleted.map { row in
            var slot = home(of: row.key.id, bits: bits)
            while table[slot] >= 0 {
                if inserted[table[slot]].key.id == row.key.id { return table[slot] }
                slot = (slot + 1) & mask
            }
            return nil
        }
    }

    /// Returns the first slot of an id by multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4).
    private static func home(of id: UInt64, bits: Int) -> Int {
        Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - bits))
    }
}
