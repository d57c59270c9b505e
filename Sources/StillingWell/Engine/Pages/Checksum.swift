// Checksums of what lies in the file: CRC-32C over the entry and over where it belongs, so that a whole entry at a wrong place
// is damage too. Docs/store-file.md says what each covers. Pure.
import CStillingWellLMDB
import CStillingWellPlatform

enum Checksum {
    /// Of a row: its table, its object and its bytes, but for the four that hold this.
    static func row(_ bytes: UnsafeRawBufferPointer, _ table: UInt32, _ id: UInt64) -> UInt32 {
        guard let base = bytes.baseAddress, bytes.count >= RowReader.headerBytes else { return 0 }
        let head = UInt64(base.loadUnaligned(as: UInt32.self)) | UInt64(table) << 32
        return cp_crc32c_entry(head, id, base + 8, UInt(bytes.count - 8))
    }

    /// Of a key, to which an id is added to make that of an entry: of a primary key where `column` is nil, else of an index.
    static func key(_ key: UnsafeRawBufferPointer, _ table: UInt32, _ column: Int?) -> UInt32 {
        cp_crc32c_entry(UInt64(table), UInt64((column ?? -1) + 1), key.baseAddress, UInt(key.count))
    }

    static func entry(_ key: UInt32, _ id: UInt64) -> UInt32 { cp_crc32c_word(key, id) }

    /// Of a value that lies apart from its row: its number and its bytes.
    static func value(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) -> UInt32 {
        cp_crc32c_entry(number, UInt64(bytes.count), bytes.baseAddress, UInt(bytes.count))
    }

    /// Of the changes of a version.
    static func log(_ entries: UnsafeRawBufferPointer, _ version: UInt64) -> UInt32 {
        cp_crc32c_entry(version, UInt64(entries.count), entries.baseAddress, UInt(entries.count))
    }
}

/// What a key leads to, as keys and indexes have it: the id, its highest byte first, so that entries are in the order of ids,
/// and a checksum.
struct IDEntry {
    static let bytes = 12

    /// Runs `body` with a key and its entry as the engine takes them.
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

    /// The id of an entry; nil where the entry is damaged.
    /// - Parameter key: the checksum of its key.
    @inline(__always)
    static func id(_ entry: UnsafeRawBufferPointer, key: UInt32) -> UInt64? {
        guard entry.count == bytes else { return nil }
        let id = UInt64(bigEndian: entry.loadUnaligned(as: UInt64.self))
        let sum = entry.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        return sum == Checksum.entry(key, id) ? id : nil
    }
}
