// Values that are too long to be written with their row each time anything in it changes: strings and data of more than a kilobyte lie
// in a table of their own, under numbers that are never given out twice. So a number stands for one value for good: two rows with
// the same number have the same value, and what was checked once stays checked.

/// What a row has in place of a value that lies apart, behind its slots as the bytes of others:
///
///     0   number of the value: UInt64
///     8   checksum of its bytes and of the number: UInt32
///
/// The highest bit of the slot says that it is one, and the rest of its upper half how long the value is.
struct LargeValue: Equatable {
    /// Of what stands in the row.
    static let bytes = 12
    /// The longest value that is kept in its row.
    static let mostInRow = 1024
    /// What is longer cannot be stored.
    static let mostBytes = Int(Int32.max)
    /// In a slot.
    static let mark: UInt64 = 1 << 63
    /// What the counter of numbers is kept under, as those of tables' rows are: no table has this number.
    static let counter: UInt32 = 0

    let number: UInt64
    let sum: UInt32
    let byteCount: Int
}

extension LargeValue {
    init(number: UInt64, _ value: UnsafeRawBufferPointer) {
        self.init(number: number, sum: Checksum.value(value, number), byteCount: value.count)
    }

    /// What the row says at `place`.
    init(_ place: UnsafeRawPointer, slot: UInt64) {
        self.init(
            number: place.loadUnaligned(as: UInt64.self),
            sum: place.loadUnaligned(fromByteOffset: 8, as: UInt32.self), byteCount: Int(slot & ~Self.mark) >> 32)
    }

    /// Whether bytes are the value. O(bytes).
    func isWhole(_ found: UnsafeRawBufferPointer) -> Bool {
        found.count == byteCount && Checksum.value(found, number) == sum
    }
}

/// Where the values are read that lie apart from some rows. Lives as long as who reads these rows.
protocol LargeValueSource: AnyObject {
    /// The value, valid as long as the row; without an address, and the failure kept, where it cannot be read.
    func bytes(ofLarge number: UInt64, sum: UInt32, byteCount: Int) -> UnsafeRawBufferPointer
    /// What was kept, for who has asked for a property.
    var failure: StoreError? { get }
}

extension LargeValueSource {
    /// What rows hold of it: a reference would be counted at every read of a row.
    @inline(__always)
    var unretained: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }
}
