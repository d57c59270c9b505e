// Finds the rows that are in two lists: those whose key changed, so that a difference has them once as gone and once as
// new. A small open-addressing table, because a dictionary's hashing costs more than the rest of the difference.

enum ObjectPairing {
    /// For each of `deleted`: the place in `inserted` of the row with the same object id. Expected O(k).
    static func partners(of deleted: [TreeDifference.Row], in inserted: [TreeDifference.Row]) -> [Int?] {
        // By far most often it is one, of which no list need be made to grow.
        if deleted.count == 1 { return [inserted.firstIndex { $0.key.id == deleted[0].key.id }] }
        if deleted.isEmpty || inserted.isEmpty { return Array(repeating: nil, count: deleted.count) }
        if inserted.count <= 8 { return deleted.map { row in inserted.firstIndex { $0.key.id == row.key.id } } }
        // At most half full, so that a probe ends soon.
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

    /// Multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4): ids ascend, so neighbours must scatter.
    private static func home(of id: UInt64, bits: Int) -> Int {
        Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - bits))
    }
}
