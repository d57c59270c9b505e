// How a row lies in storage, so that one column is read without decoding the others:
//
//     0       columns: UInt16
//     2       layout: UInt8, and flags: UInt8, both zero so far
//     4       checksum: UInt32, of everything else and of where the row belongs
//     8       null mask: UInt64, bit i for column i
//     16      one 8-byte slot per column
//     then    bytes of strings, data and UUIDs; their slot is offset (low 32 bits) and length (high 32 bits)
//
// Integers are little endian. A column past the stored count (a property added later) reads as null or as zero.

/// A row as it lies in memory that somebody else keeps alive: a snapshot, or a write transaction until its next change.
///
/// Unchecked because of the pointer: nobody writes to what it points to.
public struct RowReader: @unchecked Sendable {
    @inlinable static var headerBytes: Int { 16 }

    @usableFromInline package let base: UnsafeRawPointer
    @usableFromInline let byteCount: Int

    /// A row of no columns, for bytes that are none.
    nonisolated(unsafe) private static let none: UnsafeRawPointer = {
        let empty = UnsafeMutableRawPointer.allocate(byteCount: headerBytes, alignment: 8)
        empty.initializeMemory(as: UInt8.self, repeating: 0, count: headerBytes)
        return UnsafeRawPointer(empty)
    }()

    /// What is too short for the columns that it says it has reads as a row of none: nothing outside of the bytes is read,
    /// whatever they say.
    @inline(__always)
    package init(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count >= Self.headerBytes,
            Self.headerBytes + Int(base.loadUnaligned(as: UInt16.self)) * 8 <= bytes.count
        else {
            (self.base, byteCount) = (Self.none, Self.headerBytes)
            return
        }
        self.base = base
        byteCount = bytes.count
    }

    /// What has been checked already, or is about to be.
    @inline(__always)
    init(unchecked base: UnsafeRawPointer, _ byteCount: Int) {
        self.base = base
        self.byteCount = byteCount
    }

    @inline(__always)
    init(unchecked bytes: UnsafeRawBufferPointer) { self.init(unchecked: bytes.baseAddress ?? Self.none, bytes.count) }

    /// Whether bytes are the row that was stored for an object. O(bytes).
    static func isWhole(_ bytes: UnsafeRawBufferPointer, _ table: UInt32, _ id: UInt64) -> Bool {
        bytes.count >= headerBytes
            && bytes.loadUnaligned(fromByteOffset: checksumOffset, as: UInt32.self) == Checksum.row(bytes, table, id)
            && headerBytes + Int(bytes.loadUnaligned(as: UInt16.self)) * 8 <= bytes.count
    }

    /// Throws where bytes are not that row. O(bytes).
    @inline(__always)
    static func check(_ bytes: UnsafeRawBufferPointer, _ table: UInt32, _ id: UInt64) throws(EngineFailure) {
        if !isWhole(bytes, table, id) { throw .damagedRow(table, id) }
    }

    /// Whether slots and what they point to lie in a row that has no checksum.
    static func isReadable(_ bytes: UnsafeRawBufferPointer, _ table: TableSchema) -> Bool {
        guard bytes.count >= headerBytes else { return false }
        let row = RowReader(bytes)
        guard row.base == bytes.baseAddress else { return false }
        for column in 0..<min(row.columnCount, table.columns.count) where table.columns[column].type.isOutOfLine {
            let slot = row.slot(column)
            if slot & 0xffff_ffff + slot >> 32 > UInt64(bytes.count) { return false }
        }
        return true
    }

    fileprivate static var checksumOffset: Int { 4 }

    /// The row as it lies there, to be copied.
    package var image: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }

    @inlinable @inline(__always)
    package var columnCount: Int { Int(base.loadUnaligned(as: UInt16.self)) }

    @inlinable @inline(__always)
    package func isNull(_ column: Int) -> Bool {
        column >= columnCount || base.loadUnaligned(fromByteOffset: 8, as: UInt64.self) & (1 &<< UInt64(column)) != 0
    }

    /// The slot of a column, 0 where it is null.
    @inlinable @inline(__always)
    package func slot(_ column: Int) -> UInt64 {
        column >= columnCount
            ? 0 : base.loadUnaligned(fromByteOffset: Self.headerBytes &+ column &* 8, as: UInt64.self)
    }

    /// The bytes of a string, data or UUID column.
    @inlinable @inline(__always)
    package func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        let slot = slot(column)
        let (offset, count) = (Int(slot & 0xffff_ffff), Int(slot >> 32))
        guard offset &+ count <= byteCount else { return UnsafeRawBufferPointer(start: base, count: 0) }
        return UnsafeRawBufferPointer(start: base + offset, count: count)
    }
}

/// A row being written: a buffer of its own, reused from row to row. One thread at a time.
public final class RowBuffer {
    @exclusivity(unchecked) @usableFromInline package private(set) var base: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private(set) var byteCount = 0
    /// Out-of-line bytes that no slot points to any more.
    @exclusivity(unchecked) private var wastedBytes = 0

    package init() {
        capacity = 512
        base = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { base.deallocate() }
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }
    package var reader: RowReader { RowReader(bytes) }

    /// Starts a row of zeros and nulls.
    package func reset(columnCount: Int) {
        byteCount = RowReader.headerBytes + columnCount * 8
        wastedBytes = 0
        reserve(0)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        base.storeBytes(of: UInt16(columnCount), as: UInt16.self)
    }

    /// Starts from a stored row, widened with nulls where properties were added since. A row that a later program has
    /// made wider stays as wide.
    package func load(_ row: RowReader, columnCount: Int, outOfLine: [Int]) {
        guard row.columnCount >= columnCount else { return widen(row, columnCount, outOfLine) }
        byteCount = row.byteCount
        wastedBytes = 0
        reserve(0)
        base.copyMemory(from: row.base, byteCount: row.byteCount)
    }

    private func widen(_ row: RowReader, _ columnCount: Int, _ outOfLine: [Int]) {
        reset(columnCount: columnCount)
        for column in 0..<columnCount { set(column, from: row, column, isOutOfLine: outOfLine.contains(column)) }
    }

    /// Sets a column to what another row has in one of the same type.
    func set(_ column: Int, from row: RowReader, _ source: Int, isOutOfLine: Bool) {
        if row.isNull(source) {
            setNull(column, isOutOfLine: isOutOfLine)
        } else if isOutOfLine {
            setBytes(column, row.bytes(source))
        } else {
            setSlot(column, row.slot(source))
        }
    }

    @inlinable @inline(__always)
    package func setSlot(_ column: Int, _ value: UInt64) {
        base.storeBytes(of: value, toByteOffset: RowReader.headerBytes + column * 8, as: UInt64.self)
        let mask = base.load(fromByteOffset: 8, as: UInt64.self)
        base.storeBytes(of: mask & ~(1 << UInt64(column)), toByteOffset: 8, as: UInt64.self)
    }

    /// - Parameter isOutOfLine: whether the slot points to bytes, which are given up.
    package func setNull(_ column: Int, isOutOfLine: Bool = false) {
        if isOutOfLine { wastedBytes += reader.bytes(column).count }
        setSlot(column, 0)
        let mask = base.load(fromByteOffset: 8, as: UInt64.self)
        base.storeBytes(of: mask | 1 << UInt64(column), toByteOffset: 8, as: UInt64.self)
    }

    package func setBytes(_ column: Int, _ value: UnsafeRawBufferPointer) {
        let old = reader.bytes(column)
        let offset: Int
        // Not over the slots, where somebody has made a row whose bytes lie there.
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

    /// Squeezes out bytes that nothing points to. Not in a row of more columns than `columnCount`, those that are known:
    /// the others may point to bytes too. O(row).
    package func compact(columnCount: Int, outOfLine: [Int]) {
        guard wastedBytes > 0, reader.columnCount == columnCount else { return }
        let copy = RowBuffer()
        copy.widen(reader, columnCount, outOfLine)
        swap(&base, &copy.base)
        swap(&capacity, &copy.capacity)
        byteCount = copy.byteCount
        wastedBytes = 0
    }

    /// Makes it the row of an object, by its checksum; as it is when it is stored.
    func seal(_ table: UInt32, _ id: UInt64) {
        let sum = Checksum.row(bytes, table, id)
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
