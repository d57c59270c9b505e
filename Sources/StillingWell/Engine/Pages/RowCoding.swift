// How a row lies in storage, so that one column is read without decoding the others:
//
//     0       columns: UInt16
//     2       layout: UInt8, zero so far
//     3       flags: UInt8; 1 where values lie apart (LargeValue.swift)
//     4       checksum: UInt32, of everything else and of where the row belongs
//     8       null mask: UInt64, bit i for column i
//     16      one 8-byte slot per column
//     then    bytes of strings, data and UUIDs; their slot is offset (low 32 bits) and length (high 32 bits)
//     last    where values lie apart, of which columns: UInt64, bit i for column i
//
// Integers are little endian. A column past the stored count (a property added later) reads as null or as zero.
import StillingWellBasis

/// A row as it lies in memory that somebody else keeps alive: a snapshot, or a write transaction until its next change.
///
/// Unchecked because of the pointers: nobody writes to what one points to, and the other is who keeps it alive.
public struct RowReader: @unchecked Sendable {
    @inlinable static var headerBytes: Int { 16 }

    @usableFromInline let base: UnsafeRawPointer
    @usableFromInline let byteCount: Int
    /// The `LargeValueSource` that has its values which lie apart; nil of a row that can have none.
    @usableFromInline let source: UnsafeRawPointer?

    /// A row of no columns, for bytes that are none.
    nonisolated(unsafe) private static let none: UnsafeRawPointer = {
        let empty = UnsafeMutableRawPointer.allocate(byteCount: headerBytes, alignment: 8)
        empty.initializeMemory(as: UInt8.self, repeating: 0, count: headerBytes)
        return UnsafeRawPointer(empty)
    }()

    /// What is too short for the columns that it says it has reads as a row of none: nothing outside of the bytes is read,
    /// whatever they say.
    /// - Parameter source: who has its values that lie apart.
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

    /// What has been checked already, or is about to be.
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

    fileprivate static var checksumOffset: Int { 4 }

    /// The row as it lies there, to be copied.
    var image: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }

    @inlinable @inline(__always)
    var columnCount: Int { Int(base.loadUnaligned(as: UInt16.self)) }

    @inlinable @inline(__always)
    func isNull(_ column: Int) -> Bool {
        column >= columnCount || base.loadUnaligned(fromByteOffset: 8, as: UInt64.self) & (1 &<< UInt64(column)) != 0
    }

    /// The slot of a column, 0 where it is null.
    @inlinable @inline(__always)
    func slot(_ column: Int) -> UInt64 { Self.slot(column, at: base) }

    /// That of the row that lies at `base`.
    @inlinable @inline(__always)
    static func slot(_ column: Int, at base: UnsafeRawPointer) -> UInt64 {
        column >= Int(base.loadUnaligned(as: UInt16.self))
            ? 0 : base.loadUnaligned(fromByteOffset: headerBytes &+ column &* 8, as: UInt64.self)
    }

    /// The bytes of a string, data or UUID column. O(1); of a value that lies apart O(log n) in their number.
    @inlinable @inline(__always)
    func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        let slot = slot(column)
        let (offset, count) = (Int(slot & 0xffff_ffff), Int(slot >> 32))
        // No row is as long as a value seems that lies apart.
        guard offset &+ count <= byteCount else { return bytesApart(slot) }
        return UnsafeRawBufferPointer(start: base + offset, count: count)
    }

    @inline(never)
    @usableFromInline
    func bytesApart(_ slot: UInt64) -> UnsafeRawBufferPointer {
        guard let value = largeValue(slot) else { return UnsafeRawBufferPointer(start: base, count: 0) }
        return values.bytes(ofLarge: value.number, sum: value.sum, byteCount: value.byteCount)
    }

    /// Who has its values that lie apart.
    var values: any LargeValueSource {
        guard let source,
            let values = Unmanaged<AnyObject>.fromOpaque(source).takeUnretainedValue() as? any LargeValueSource
        else { stopProgram("a large value was asked of a row by itself") }
        return values
    }

    /// What a slot says of a value that lies apart; nil where it is none.
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

    /// Bit i: the value of column i lies apart. Of a row as it is stored.
    var largeColumns: UInt64 {
        guard base.load(fromByteOffset: Self.flagsOffset, as: UInt8.self) & Self.largeFlag != 0,
            byteCount >= Self.headerBytes + columnCount * 8 + Self.largeBytes
        else { return 0 }
        return base.loadUnaligned(fromByteOffset: byteCount - Self.largeBytes, as: UInt64.self)
    }

    /// Those of its values that lie apart, also of columns that only a later program knows. Of a row as it is stored.
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

/// A row being written: a buffer of its own, reused from row to row. One thread at a time.
public final class RowBuffer {
    @exclusivity(unchecked) @usableFromInline private(set) var base: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    private(set) var byteCount = 0
    /// Out-of-line bytes that no slot points to any more.
    private var wastedBytes = 0
    /// Bit i: the value of column i lies apart.
    private var large: UInt64 = 0
    /// Who has those values.
    private var source: UnsafeRawPointer?
    /// How long a value is that was longer than can be stored, and was left out.
    private(set) var refusedBytes = 0

    init() {
        capacity = 512
        base = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { base.deallocate() }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }
    var reader: RowReader { RowReader(bytes, source) }
    /// As it is stored, once it is sealed.
    var sealedBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: byteCount + (large == 0 ? 0 : RowReader.largeBytes))
    }
    /// Those of its values that lie apart.
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

    /// Starts from a stored row, widened with nulls where properties were added since. A row that a later program has
    /// made wider stays as wide.
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

    /// Sets a column to what another row has in one of the same type.
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

    /// - Parameter isOutOfLine: whether the slot points to bytes, which are given up.
    func setNull(_ column: Int, isOutOfLine: Bool = false) {
        if isOutOfLine { wastedBytes += giveUp(column).count }
        setSlot(column, 0)
        let mask = base.load(fromByteOffset: 8, as: UInt64.self)
        base.storeBytes(of: mask | 1 << UInt64(column), toByteOffset: 8, as: UInt64.self)
    }

    /// What the row has of a column's bytes, to be written over.
    private func giveUp(_ column: Int) -> UnsafeRawBufferPointer {
        let row = reader
        let slot = row.slot(column)
        guard slot & LargeValue.mark != 0 else { return row.bytes(column) }
        large &= ~(1 << UInt64(column))
        // Nothing is written where a row says it that nobody has stored.
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

    /// Has the value of a column lie apart.
    private func setLarge(_ column: Int, _ value: LargeValue) {
        withUnsafeTemporaryAllocation(byteCount: LargeValue.bytes, alignment: 8) { bytes in
            bytes.storeBytes(of: value.number, as: UInt64.self)
            bytes.storeBytes(of: value.sum, toByteOffset: 8, as: UInt32.self)
            setBytes(column, UnsafeRawBufferPointer(bytes))
        }
        setSlot(column, reader.slot(column) & 0xffff_ffff | UInt64(value.byteCount) << 32 | LargeValue.mark)
        large |= 1 << UInt64(column)
    }

    /// Whether it may have values that should lie apart, or that cannot be stored.
    @inline(__always)
    var isLong: Bool { byteCount > RowReader.headerBytes + LargeValue.mostInRow || refusedBytes != 0 }
    /// Whether `compact` has something to do.
    @inline(__always)
    var isWasteful: Bool { wastedBytes > 0 }
    /// Whether some of its values lie apart.
    @inline(__always)
    var hasLarge: Bool { large != 0 }

    /// Has values lie apart that are too long for the row, but for those of a row of more columns than are known, whose bytes stay.
    /// - Parameters:
    ///   - columns: those that may.
    ///   - source: who has them from then on.
    ///   - store: stores one, and says where.
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

    /// Squeezes out bytes that nothing points to. Not in a row of more columns than `columnCount`, those that are known:
    /// the others may point to bytes too. O(row).
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

    /// Why it cannot be stored; nil where it can.
    func error(_ table: TableSchema) -> StoreError? {
        refusedBytes == 0
            ? nil : .valueTooLong(table: table.name, bytes: refusedBytes, limit: LargeValue.mostBytes)
    }

    /// Makes it the row of an object, by its checksum; as it is when it is stored.
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
