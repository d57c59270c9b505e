// Layout of a stored row, in which one column is read without decoding the others:
//
//     0       columns: UInt16
//     2       layout: UInt8, zero so far
//     3       flags: UInt8; 1 if the row has large values (LargeValue.swift)
//     4       checksum: UInt32, of all other bytes, the table and the object id
//     8       null mask: UInt64, bit i for column i
//     16      one 8-byte slot per column
//     then    bytes of strings, data and UUIDs; their slot is offset (low 32 bits) and length (high 32 bits)
//     last    if it has large values, their columns: UInt64, bit i for column i
//
// Integers are little endian. A column beyond the stored count (a property added later) reads as null or as zero.
import StillingWellBasis

// Public declarations name these types with an underscore. They are public only because property types implement the
// underscored requirements of `StorableValue`, which reads of properties inline into programs.
@usableFromInline typealias RowReader = _RowReader
typealias RowBuffer = _RowBuffer

/// A row in memory that it does not own. The owner is a snapshot, a write transaction until its next change, or a
/// buffer.
///
/// Unchecked because of the pointers: the row's memory is not written, and `source` points to the owner that keeps it
/// alive.
public struct _RowReader: @unchecked Sendable {
    @inlinable static var headerBytes: Int { 16 }

    @usableFromInline let base: UnsafeRawPointer
    @usableFromInline let byteCount: Int
    /// The `LargeValueSource` of the row, or nil if it can have no large values.
    @usableFromInline let source: UnsafeRawPointer?

    /// A row without columns, in place of bytes that are no row.
    nonisolated(unsafe) private static let none: UnsafeRawPointer = {
        let empty = UnsafeMutableRawPointer.allocate(byteCount: headerBytes, alignment: 8)
        empty.initializeMemory(as: UInt8.self, repeating: 0, count: headerBytes)
        return UnsafeRawPointer(empty)
    }()

    /// Makes a reader of untrusted bytes. Bytes too short for their column count read as a row without columns, so no
    /// read leaves them.
    /// - Parameter source: the `LargeValueSource` of the row.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, _ source: UnsafeRawPointer? = nil) {
        self.source = source
        guard let base = bytes.baseAddress, bytes.count >= Self.headerBytes,
            Self.headerBytes + Int(base.loadUnaligned(as: UInt16.self)) * 8 <= bytes.count
        else {
            (self.base, byteCount) = (Self.none, Self.headerBytes)
            return
        }
        self.base = base
        byteCount = bytes.count
    }

    /// Makes a reader of bytes that were checked already, or are about to be.
    @inline(__always)
    init(unchecked base: UnsafeRawPointer, _ byteCount: Int, _ source: UnsafeRawPointer) {
        self.base = base
        self.byteCount = byteCount
        self.source = source
    }

    @inline(__always)
    init(unchecked bytes: UnsafeRawBufferPointer, _ source: UnsafeRawPointer) {
        self.init(unchecked: bytes.baseAddress ?? Self.none, bytes.count, source)
    }

    /// Returns whether bytes are the row that was stored for an object. O(bytes).
    static func isWhole(_ bytes: UnsafeRawBufferPointer, _ table: UInt32, _ id: UInt64) -> Bool {
        bytes.count >= headerBytes
            && bytes.loadUnaligned(fromByteOffset: checksumOffset, as: UInt32.self) == Checksum.row(bytes, table, id)
            && headerBytes + Int(bytes.loadUnaligned(as: UInt16.self)) * 8 <= bytes.count
    }

    /// Throws if bytes are not the row that was stored for an object. O(bytes).
    @inline(__always)
    static func check(_ bytes: UnsafeRawBufferPointer, _ table: UInt32, _ id: UInt64) throws(EngineFailure) {
        if !isWhole(bytes, table, id) { throw .damagedRow(table, id) }
    }

    fileprivate static var checksumOffset: Int { 4 }

    /// Stored bytes of the row.
    var image: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }

    @inlinable @inline(__always)
    var columnCount: Int { Int(base.loadUnaligned(as: UInt16.self)) }

    @inlinable @inline(__always)
    func isNull(_ column: Int) -> Bool {
        column >= columnCount || base.loadUnaligned(fromByteOffset: 8, as: UInt64.self) & (1 &<< UInt64(column)) != 0
    }

    /// Slot of a column, 0 if it is null.
    @inlinable @inline(__always)
    func slot(_ column: Int) -> UInt64 { Self.slot(column, at: base) }

    /// Slot of a column of the row at `base`.
    @inlinable @inline(__always)
    static func slot(_ column: Int, at base: UnsafeRawPointer) -> UInt64 {
        column >= Int(base.loadUnaligned(as: UInt16.self))
            ? 0 : base.loadUnaligned(fromByteOffset: headerBytes &+ column &* 8, as: UInt64.self)
    }

    /// Bytes of a string, data or UUID column. O(1); for a large value O(log n) in the number of large values, and
    /// O(bytes) if it has to be checked.
    @inlinable @inline(__always)
    func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        let slot = slot(column)
        let (offset, count) = (Int(slot & 0xffff_ffff), Int(slot >> 32))
        // The mark in the slot of a large value makes its length exceed every row.
        guard offset &+ count <= byteCount else { return bytesApart(slot) }
        return UnsafeRawBufferPointer(start: base + offset, count: count)
    }

    @inline(never)
    @usableFromInline
    func bytesApart(_ slot: UInt64) -> UnsafeRawBufferPointer {
        guard let value = largeValue(slot) else { return UnsafeRawBufferPointer(start: base, count: 0) }
        return values.bytes(ofLarge: value.number, sum: value.sum, byteCount: value.byteCount)
    }

    /// Source of the row's large values.
    var values: any LargeValueSource {
        guard let source,
            let values = ObjectPointer.object(source, as: AnyObject.self) as? any LargeValueSource
        else { stopProgram("a large value was asked of a row by itself") }
        return values
    }

    /// Reference to a large value that a slot points to, or nil if it points to none.
    func largeValue(_ slot: UInt64) -> LargeValue? {
        let offset = Int(slot & 0xffff_ffff)
        guard slot & LargeValue.mark != 0, offset >= Self.headerBytes, offset + LargeValue.bytes <= byteCount else {
            return nil
        }
        return LargeValue(base + offset, slot: slot)
    }

    fileprivate static var flagsOffset: Int { 3 }
    fileprivate static var largeFlag: UInt8 { 1 }
    fileprivate static var largeBytes: Int { 8 }

    /// Columns that hold large values, bit i for column i. Only for a row in its stored form.
    var largeColumns: UInt64 {
        guard base.load(fromByteOffset: Self.flagsOffset, as: UInt8.self) & Self.largeFlag != 0,
            byteCount >= Self.headerBytes + columnCount * 8 + Self.largeBytes
        else { return 0 }
        return base.loadUnaligned(fromByteOffset: byteCount - Self.largeBytes, as: UInt64.self)
    }

    /// References to all large values, also in unknown columns of a later program. Only for a row in its stored form.
    var largeValues: [LargeValue] { largeValues(largeColumns) }

    fileprivate func largeValues(_ columns: UInt64) -> [LargeValue] {
        var (rest, values) = (columns, [LargeValue]())
        while rest != 0 {
            if let value = largeValue(slot(rest.trailingZeroBitCount)) { values.append(value) }
            rest &= rest - 1
        }
        return values
    }
}

/// A row being written, in a buffer that is reused from row to row. Used by one thread at a time.
public final class _RowBuffer {
    @exclusivity(unchecked) @usableFromInline private(set) var base: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    private(set) var byteCount = 0
    /// Out-of-line bytes that no slot points to any more.
    private var wastedBytes = 0
    /// Columns that hold large values, bit i for column i.
    private var large: UInt64 = 0
    /// The `LargeValueSource` of these values.
    private var source: UnsafeRawPointer?
    /// Length in bytes of a value that was too long to be stored and was left out, or 0.
    private(set) var refusedBytes = 0

    init() {
        capacity = 512
        base = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { base.deallocate() }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }
    var reader: RowReader { RowReader(bytes, source) }
    /// Bytes of the row in its stored form. Valid after `seal`.
    var sealedBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: byteCount + (large == 0 ? 0 : RowReader.largeBytes))
    }
    /// References to the row's large values.
    var largeValues: [LargeValue] { large == 0 ? [] : reader.largeValues(large) }

    /// Starts a row of zeros and nulls.
    func reset(columnCount: Int) {
        byteCount = RowReader.headerBytes + columnCount * 8
        wastedBytes = 0
        (large, source, refusedBytes) = (0, nil, 0)
        reserve(0)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        base.storeBytes(of: UInt16(columnCount), as: UInt16.self)
    }

    /// Loads a stored row, widened with nulls for properties added since. A row of a later program keeps its columns.
    func load(_ row: RowReader, columnCount: Int, outOfLine: [Int]) {
        guard row.columnCount >= columnCount else { return widen(row, columnCount, outOfLine) }
        byteCount = row.byteCount
        wastedBytes = 0
        (source, refusedBytes) = (row.source, 0)
        reserve(0)
        base.copyMemory(from: row.base, byteCount: row.byteCount)
        large = row.largeColumns
        if large != 0 { byteCount -= RowReader.largeBytes }
    }

    private func widen(_ row: RowReader, _ columnCount: Int, _ outOfLine: [Int]) {
        reset(columnCount: columnCount)
        source = row.source
        for column in 0..<columnCount { set(column, from: row, column, isOutOfLine: outOfLine.contains(column)) }
    }

    /// Sets a column to the value that another row has in a column of the same type.
    func set(_ column: Int, from row: RowReader, _ source: Int, isOutOfLine: Bool) {
        if row.isNull(source) {
            setNull(column, isOutOfLine: isOutOfLine)
        } else if isOutOfLine {
            if let value = row.largeValue(row.slot(source)) {
                setLarge(column, value)
            } else {
                setBytes(column, row.bytes(source))
            }
        } else {
            setSlot(column, row.slot(source))
        }
    }

    @inlinable @inline(__always)
    func setSlot(_ column: Int, _ value: UInt64) {
        base.storeBytes(of: value, toByteOffset: RowReader.headerBytes + column * 8, as: UInt64.self)
        let mask = base.load(fromByteOffset: 8, as: UInt64.self)
        base.storeBytes(of: mask & ~(1 << UInt64(column)), toByteOffset: 8, as: UInt64.self)
    }

    /// - Parameter isOutOfLine: whether the slot points to bytes, which are then released.
    func setNull(_ column: Int, isOutOfLine: Bool = false) {
        if isOutOfLine { wastedBytes += giveUp(column).count }
        setSlot(column, 0)
        let mask = base.load(fromByteOffset: 8, as: UInt64.self)
        base.storeBytes(of: mask | 1 << UInt64(column), toByteOffset: 8, as: UInt64.self)
    }

    /// Releases the bytes of a column and returns their place, which may be overwritten.
    private func giveUp(_ column: Int) -> UnsafeRawBufferPointer {
        let row = reader
        let slot = row.slot(column)
        guard slot & LargeValue.mark != 0 else { return row.bytes(column) }
        large &= ~(1 << UInt64(column))
        // A slot with the mark but no valid reference has no bytes of its own.
        guard row.largeValue(slot) != nil else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: row.base + Int(slot & 0xffff_ffff), count: LargeValue.bytes)
    }

    func setBytes(_ column: Int, _ value: UnsafeRawBufferPointer) {
        guard value.count <= LargeValue.mostBytes, byteCount + value.count <= UInt32.max else {
            refusedBytes = value.count
            return
        }
        let old = giveUp(column)
        let offset: Int
        // A malformed row may place a column's bytes inside of the slots, which must not be overwritten.
        if old.count >= value.count, old.count > 0, case let place = old.baseAddress! - UnsafeRawPointer(base),
            place >= RowReader.headerBytes + reader.columnCount * 8
        {
            offset = place
            wastedBytes += old.count - value.count
        } else {
            offset = byteCount
            wastedBytes += old.count
            reserve(value.count)
            byteCount += value.count
        }
        if let source = value.baseAddress { (base + offset).copyMemory(from: source, byteCount: value.count) }
        setSlot(column, UInt64(offset) | UInt64(value.count) << 32)
    }

    /// Sets a column to a reference to a large value.
    private func setLarge(_ column: Int, _ value: LargeValue) {
        withUnsafeTemporaryAllocation(byteCount: LargeValue.bytes, alignment: 8) { bytes in
            bytes.storeBytes(of: value.number, as: UInt64.self)
            bytes.storeBytes(of: value.sum, toByteOffset: 8, as: UInt32.self)
            setBytes(column, UnsafeRawBufferPointer(bytes))
        }
        setSlot(column, reader.slot(column) & 0xffff_ffff | UInt64(value.byteCount) << 32 | LargeValue.mark)
        large |= 1 << UInt64(column)
    }

    /// Whether the row may have values to be moved out of it, or a value that cannot be stored.
    @inline(__always)
    var isLong: Bool { byteCount > RowReader.headerBytes + LargeValue.mostInRow || refusedBytes != 0 }
    /// Whether `compact` has something to do.
    @inline(__always)
    var isWasteful: Bool { wastedBytes > 0 }
    @inline(__always)
    var hasLarge: Bool { large != 0 }

    /// Moves values longer than `LargeValue.mostInRow` out of the row. Leaves a row with more columns than are known as
    /// it is.
    /// - Parameters:
    ///   - columns: the columns whose values may be moved.
    ///   - source: the `LargeValueSource` of the row from then on.
    ///   - store: stores a value and returns a reference to it.
    func moveLarge(
        _ columns: [Int], columnCount: Int, to source: UnsafeRawPointer,
        _ store: (UnsafeRawBufferPointer) throws(StoreError) -> LargeValue
    ) throws(StoreError) {
        guard reader.columnCount == columnCount else { return }
        for column in columns where large & 1 << UInt64(column) == 0 && !reader.isNull(column) {
            let value = reader.bytes(column)
            if value.count > LargeValue.mostInRow { setLarge(column, try store(value)) }
        }
        self.source = source
    }

    /// Removes bytes that no slot points to, unless the row has unknown columns, which may point to them. O(row).
    func compact(columnCount: Int, outOfLine: [Int]) {
        guard isWasteful, reader.columnCount == columnCount else { return }
        let copy = RowBuffer()
        copy.widen(reader, columnCount, outOfLine)
        swap(&base, &copy.base)
        swap(&capacity, &copy.capacity)
        large = copy.large
        byteCount = copy.byteCount
        wastedBytes = 0
    }

    /// Brings the row of an object into its stored form: appends the columns of large values and sets the checksum.
    func seal(_ table: UInt32, _ id: UInt64) {
        if large != 0 {
            reserve(RowReader.largeBytes)
            base.storeBytes(of: large, toByteOffset: byteCount, as: UInt64.self)
        }
        base.storeBytes(of: large == 0 ? 0 : RowReader.largeFlag, toByteOffset: RowReader.flagsOffset, as: UInt8.self)
        let sum = Checksum.row(sealedBytes, table, id)
        base.storeBytes(of: sum, toByteOffset: RowReader.checksumOffset, as: UInt32.self)
    }

    private func reserve(_ extra: Int) {
        guard byteCount + extra > capacity else { return }
        let wanted = max(capacity * 2, byteCount + extra)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 8)
        larger.copyMemory(from: base, byteCount: capacity)
        base.deallocate()
        base = larger
        capacity = wanted
    }
}
