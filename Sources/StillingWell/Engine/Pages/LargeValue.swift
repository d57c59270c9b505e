// Large values: strings and data of more than 1,024 bytes. They are stored in a table of their own, so that a change
// elsewhere in the row does not write them again. Their numbers are never reused, so a number always means the same
// value: two rows with the same number have the same value, and a value that was checked once stays checked.
import StillingWellBasis

/// Reference to a large value. A row has these bytes behind its slots, in place of the value's bytes:
///
///     0   number of the value: UInt64
///     8   checksum of its bytes and of the number: UInt32
///
/// The highest bit of the slot marks a large value. The other 31 bits of its upper half are the length in bytes.
struct LargeValue: Equatable {
    /// Bytes that the reference takes in the row.
    static let bytes = 12
    /// Length in bytes of the longest value that is kept in its row.
    static let mostInRow = 1024
    /// Length in bytes of the longest value that can be stored.
    static let mostBytes = Int(Int32.max)
    /// Bit of a slot that marks a large value.
    static let mark: UInt64 = 1 << 63
    /// Key of the counter that numbers large values. Counters of object ids have table numbers as keys, from 1.
    static let counter: UInt32 = 0

    let number: UInt64
    let sum: UInt32
    let byteCount: Int
}

extension LargeValue {
    init(number: UInt64, _ value: UnsafeRawBufferPointer) {
        self.init(number: number, sum: Checksum.value(value, number), byteCount: value.count)
    }

    /// Reads the reference that a row holds at `place`.
    init(_ place: UnsafeRawPointer, slot: UInt64) {
        self.init(
            number: place.loadUnaligned(as: UInt64.self),
            sum: place.loadUnaligned(fromByteOffset: 8, as: UInt32.self), byteCount: Int(slot & ~Self.mark) >> 32)
    }

    /// Returns whether `found` is the value. O(bytes).
    func isWhole(_ found: UnsafeRawBufferPointer) -> Bool {
        found.count == byteCount && Checksum.value(found, number) == sum
    }
}

/// Reads large values of rows. Lives as long as the readers of these rows.
protocol LargeValueSource: AnyObject {
    /// Returns a value, valid as long as its row. On failure, sets `failure` and returns a buffer without an address.
    func bytes(ofLarge number: UInt64, sum: UInt32, byteCount: Int) -> UnsafeRawBufferPointer
    /// First failure to read, thrown by the code that reads the property.
    var failure: StoreError? { get }
}

extension LargeValueSource {
    /// Pointer that rows hold. A reference would be retained at every read of a row.
    @inline(__always)
    var unretained: UnsafeRawPointer { UnsafeRawPointer(ObjectPointer.borrowed(self)) }
}
