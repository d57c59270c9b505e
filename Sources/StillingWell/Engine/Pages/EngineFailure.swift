// Failures of reads.

/// Failure of a read: an LMDB code, or a damaged entry. Small, because every read of a row may throw it. The storage
/// turns it into a `StoreError`.
struct EngineFailure: Error {
    /// LMDB or system code, or 0 for a damaged entry.
    let code: Int32
    private(set) var place = Place.row
    /// Number of the table with the damage; 0 for `.log`, `.value` and codes.
    private(set) var table: UInt32 = 0
    private(set) var id: UInt64 = 0

    /// Kind of the damaged entry. A damaged key or index entry names no object, because its id cannot be trusted.
    enum Place: UInt32 { case row, key, index, log, list, value }

    init(code: Int32) { self.code = code }

    private init(_ place: Place, table: UInt32 = 0, id: UInt64 = 0) {
        (code, self.place, self.table, self.id) = (0, place, table, id)
    }

    static func damagedRow(_ table: UInt32, _ id: UInt64) -> Self { Self(.row, table: table, id: id) }
    static func damagedKey(_ table: UInt32) -> Self { Self(.key, table: table) }
    static func damagedIndex(_ table: UInt32, _ column: Int) -> Self {
        Self(.index, table: table, id: UInt64(column))
    }
    /// - Parameters:
    ///   - table: the table of the list's elements.
    ///   - owner: the object that has the list.
    static func damagedList(_ table: UInt32, _ owner: UInt64) -> Self { Self(.list, table: table, id: owner) }
    static func damagedValue(_ number: UInt64) -> Self { Self(.value, id: number) }
    static func damagedLog(_ version: UInt64) -> Self { Self(.log, id: version) }
}
