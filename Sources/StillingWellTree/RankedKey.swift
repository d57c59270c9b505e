// The order of a ranked tree: the row's sort key as order-preserving bytes, then its object id.
import Glibc

/// The bytes of a sort key behind its first eight. Immutable, so any thread may read it.
///
/// Unchecked because of the memory that `word` may lead to: it is written in `init`, freed in `deinit`, and read in
/// between.
@usableFromInline package final class SortKeyTail: @unchecked Sendable {
    let count: Int
    /// Up to eight bytes: the bytes themselves, most significant first. More: their address. Allocating memory for the
    /// tail of each key of two numbers took a tenth of a first evaluation.
    private let word: UInt64

    /// Copies `source`, which is not empty: a key of up to eight bytes has no tail.
    init(_ source: UnsafeRawBufferPointer) {
        assert(!source.isEmpty, "a sort key of at most eight bytes has no tail")
        count = source.count
        if source.count <= 8 {
            word = Self.number(source)
            return
        }
        guard let bytes = malloc(source.count) else { fatalError("no memory for a key of \(source.count) bytes") }
        memcpy(bytes, source.baseAddress!, source.count)
        word = UInt64(UInt(bitPattern: bytes))
    }

    deinit { if count > 8 { free(UnsafeMutableRawPointer(bitPattern: UInt(word))) } }

    /// Returns the first eight bytes as a number, most significant first, padded with zeros.
    @inline(__always)
    static func number(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        if bytes.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
        var head: UInt64 = 0
        withUnsafeMutableBytes(of: &head) { $0.copyMemory(from: bytes) }
        return UInt64(bigEndian: head)
    }

    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if count > 8 {
            return body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(word)), count: count))
        }
        return withUnsafeBytes(of: word.bigEndian) { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Compares bytewise, with a proper prefix first. Returns a negative number, zero or a positive number.
    @usableFromInline
    static func order(_ left: SortKeyTail?, _ right: SortKeyTail?) -> Int {
        if left === right { return 0 }
        guard let left else { return -1 }
        guard let right else { return 1 }
        if left.count <= 8, right.count <= 8 {
            if left.word != right.word { return left.word < right.word ? -1 : 1 }
            return left.count - right.count
        }
        return left.withBytes { left in
            right.withBytes { right in
                let order = memcmp(left.baseAddress!, right.baseAddress!, min(left.count, right.count))
                return order != 0 ? Int(order) : left.count - right.count
            }
        }
    }
}

/// A position in the order of sort keys, without ids: one end of a `TreeWindow`.
///
/// Sort keys compare as bytes, but the first eight are held as one number, padded with zeros where the key is shorter.
/// So `ab` and `ab 00` would compare equal: the encoder must not make one row's key a proper prefix of another's. A
/// bound may be a proper prefix of keys; it then precedes all of them.
@usableFromInline
package struct SortKeyBound: Sendable, Equatable {
    /// First eight bytes, most significant first.
    @usableFromInline package let prefix: UInt64
    @usableFromInline let tail: SortKeyTail?

    init(prefix: UInt64, tail: SortKeyTail? = nil) {
        self.prefix = prefix
        self.tail = tail
    }

    package init(bytes: UnsafeRawBufferPointer) {
        prefix = SortKeyTail.number(bytes)
        tail = bytes.count > 8 ? SortKeyTail(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(8))) : nil
    }

    @usableFromInline
    package static func == (left: SortKeyBound, right: SortKeyBound) -> Bool {
        left.prefix == right.prefix && SortKeyTail.order(left.tail, right.tail) == 0
    }
}

/// The full key of a row: sort key, ties broken by object id. Unique within a tree.
@usableFromInline
package struct RankedKey: Sendable, Comparable {
    @usableFromInline package let prefix: UInt64
    @usableFromInline let tail: SortKeyTail?
    @usableFromInline package let id: UInt64

    @inlinable
    package init(prefix: UInt64, tail: SortKeyTail? = nil, id: UInt64) {
        self.prefix = prefix
        self.tail = tail
        self.id = id
    }

    package init(bytes: UnsafeRawBufferPointer, id: UInt64) {
        let sortKey = SortKeyBound(bytes: bytes)
        self.init(prefix: sortKey.prefix, tail: sortKey.tail, id: id)
    }

    // Inlined where rows are compared and sorted: a call would cost more than comparing numbers.

    @inlinable
    package static func == (left: RankedKey, right: RankedKey) -> Bool {
        left.prefix == right.prefix && left.id == right.id && tailOrder(left, right) == 0
    }

    @inlinable
    package static func < (left: RankedKey, right: RankedKey) -> Bool {
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        let order = tailOrder(left, right)
        return order != 0 ? order < 0 : left.id < right.id
    }

    @inlinable @inline(__always)
    static func tailOrder(_ left: RankedKey, _ right: RankedKey) -> Int {
        left.tail == nil && right.tail == nil ? 0 : SortKeyTail.order(left.tail, right.tail)
    }

    /// Returns whether a row with this key precedes the bound.
    @inlinable
    func isBelow(_ bound: SortKeyBound) -> Bool {
        prefix != bound.prefix ? prefix < bound.prefix : SortKeyTail.order(tail, bound.tail) < 0
    }
}

/// A key of up to eight bytes, which has no tail.
package struct RankedNumber: Sendable {
    package let prefix: UInt64
    package let id: UInt64

    package init(prefix: UInt64, id: UInt64) {
        self.prefix = prefix
        self.id = id
    }
}

/// A row of a tree.
@usableFromInline
package struct RankedEntry: Sendable, Equatable {
    @usableFromInline package var key: RankedKey
    /// Version that last changed an observed column of the row, as far as known, or the version at which the row was
    /// evaluated. 0 if unknown, and `.max` for a connection's own writes.
    @usableFromInline package var stamp: UInt64

    @inlinable
    package init(key: RankedKey, stamp: UInt64) {
        self.key = key
        self.stamp = stamp
    }
}

/// A key without ownership of its tail, so that comparing and copying touch no reference count. Its
/// holder keeps the owner of the tail alive.
///
/// Unchecked because of the unowned reference; the tail itself is immutable and Sendable.
struct BareKey: Comparable, @unchecked Sendable {
    let prefix: UInt64
    let id: UInt64
    let tail: Unmanaged<SortKeyTail>?

    var owned: RankedKey { RankedKey(prefix: prefix, tail: tail?.takeUnretainedValue(), id: id) }

    @inline(__always)
    static func == (left: BareKey, right: BareKey) -> Bool {
        guard left.prefix == right.prefix && left.id == right.id else { return false }
        if left.tail == nil && right.tail == nil { return true }
        return tailOrder(left, right) == 0
    }

    @inline(__always)
    static func < (left: BareKey, right: BareKey) -> Bool {
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        if left.tail != nil || right.tail != nil {
            let order = tailOrder(left, right)
            if order != 0 { return order < 0 }
        }
        return left.id < right.id
    }

    @inline(never)
    private static func tailOrder(_ left: BareKey, _ right: BareKey) -> Int {
        SortKeyTail.order(left.tail?.takeUnretainedValue(), right.tail?.takeUnretainedValue())
    }
}

extension RankedKey {
    /// Bytes of the sort key, padded with zeros to at least eight.
    package var bytes: [UInt8] { BareKey(self).bytes }
}

extension BareKey {
    init(_ key: RankedKey) {
        self.init(prefix: key.prefix, id: key.id, tail: key.tail.map { Unmanaged.passUnretained($0) })
    }

    /// Makes the smallest key that a row at `bound` can have.
    init(_ bound: SortKeyBound) {
        self.init(prefix: bound.prefix, id: 0, tail: bound.tail.map { Unmanaged.passUnretained($0) })
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        let tail = tail?.takeUnretainedValue()
        bytes.reserveCapacity(8 + (tail?.count ?? 0))
        withUnsafeBytes(of: prefix.bigEndian) { bytes.append(contentsOf: $0) }
        tail?.withBytes { bytes.append(contentsOf: $0) }
        return bytes
    }
}
