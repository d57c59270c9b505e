// Checksums of stored entries: CRC-32C over the entry and its key, so that a whole entry at a wrong place counts as
// damage. Docs/store-file.md says what each checksum covers.
import CStillingWellLMDB
import CStillingWellPlatform

enum Checksum {
    /// Checksum of a row: its table, its object id and its bytes, except the four that hold the checksum.
    static func row(_ bytes: UnsafeRawBufferPointer, _ table: UInt32, _ id: UInt64) -> UInt32 {
        guard let base = bytes.baseAddress, bytes.count >= RowReader.headerBytes else { return 0 }
        let head = UInt64(base.loadUnaligned(as: UInt32.self)) | UInt64(table) << 32
        return cp_crc32c_entry(head, id, base + 8, UInt(bytes.count - 8))
    }

    /// Checksum of a key, from which `entry` computes that of an entry. `column` is nil for a primary key.
    static func key(_ key: UnsafeRawBufferPointer, _ table: UInt32, _ column: Int?) -> UInt32 {
        cp_crc32c_entry(UInt64(table), UInt64((column ?? -1) + 1), key.baseAddress, UInt(key.count))
    }

    static func entry(_ key: UInt32, _ id: UInt64) -> UInt32 { cp_crc32c_word(key, id) }

    /// Checksum of a large value: its number and its bytes.
    static func value(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) -> UInt32 {
        cp_crc32c_entry(number, UInt64(bytes.count), bytes.baseAddress, UInt(bytes.count))
    }

    /// Checksum of the changes of a version.
    static func log(_ entries: UnsafeRawBufferPointer, _ version: UInt64) -> UInt32 {
        cp_crc32c_entry(version, UInt64(entries.count), entries.baseAddress, UInt(entries.count))
    }
}

/// Value of a primary key or index entry: the object id, big endian so that entries sort by id, then a checksum.
struct IDEntry {
    static let bytes = 12

    /// Runs `body` with a key and its entry as LMDB values.
    @inline(__always)
    static func with<Result>(
        _ key: UnsafeRawBufferPointer, _ id: UInt64, _ table: UInt32, _ column: Int?,
        _ body: (inout MDB_val, inout MDB_val) -> Result
    ) -> Result {
        var entry = (id.bigEndian, Checksum.entry(Checksum.key(key, table, column), id))
        return withUnsafeMutableBytes(of: &entry) { bytes in
            var key = MDB_val(key)
            var value = MDB_val(mv_size: Self.bytes, mv_data: bytes.baseAddress)
            return body(&key, &value)
        }
    }

    /// Returns the id of an entry, or nil if the entry is damaged.
    /// - Parameter key: the checksum of its key.
    @inline(__always)
    static func id(_ entry: UnsafeRawBufferPointer, key: UInt32) -> UInt64? {
        guard entry.count == bytes else { return nil }
        let id = UInt64(bigEndian: entry.loadUnaligned(as: UInt64.self))
        let sum = entry.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        return sum == Checksum.entry(key, id) ? id : nil
    }
}
