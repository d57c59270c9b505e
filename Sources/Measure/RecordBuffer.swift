// Where recorders keep their records while the clock runs: address space reserved up front, memory taken page by page
// as it is first written, no allocation and no lock on the way in. It is not a queue: nothing is ever taken out.
// Nothing guards the state. One thread appends; others read only after that thread was joined or otherwise
// synchronised with, which is what @unchecked Sendable stands for.
import Glibc

/// A bounded, append-only array of plain values in memory of its own. Overflow is counted, never a crash.
public final class RecordBuffer<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    /// Elements that fit.
    public let capacity: Int
    /// Elements appended while there was room.
    public private(set) var count = 0
    /// Elements that did not fit and are lost.
    public private(set) var overflowCount = 0

    @usableFromInline let base: UnsafeMutablePointer<Element>
    private let byteCount: Int

    /// Reserves room for `capacity` elements and brings the first `prefaulted` of them into memory, so that recording
    /// them takes no page fault. What is reserved and never written costs nothing.
    /// - Throws: `RecorderError.noAddressSpace`.
    public init(capacity: Int, prefaulted: Int = 0) throws(RecorderError) {
        precondition(capacity >= 0, "capacity of a record buffer cannot be negative")
        self.capacity = capacity
        byteCount = Swift.max(capacity, 1) * MemoryLayout<Element>.stride
        let memory = mmap(
            nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let memory, memory != MAP_FAILED else {
            throw .noAddressSpace(bytes: byteCount, errno: errno)
        }
        base = memory.bindMemory(to: Element.self, capacity: Swift.max(capacity, 1))
        let prefaultBytes = Swift.min(prefaulted, capacity) * MemoryLayout<Element>.stride
        for offset in stride(from: 0, to: prefaultBytes, by: 4096) {
            memory.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self)
        }
    }

    deinit { munmap(base, byteCount) }

    /// Appends, or counts an overflow. Only the owning thread.
    /// - Returns: whether the element was kept.
    @discardableResult
    public func append(_ element: Element) -> Bool {
        guard count < capacity else {
            overflowCount += 1
            return false
        }
        base[count] = element
        count += 1
        return true
    }

    /// Appends all of `values` converted by `convert`, or none of them and counts as many overflows.
    @discardableResult
    func append<Value>(
        contentsOf values: UnsafeBufferPointer<Value>, convert: (Value) -> Element
    ) -> Bool {
        guard values.count <= capacity - count else {
            overflowCount += values.count
            return false
        }
        for (offset, value) in values.enumerated() { base[count + offset] = convert(value) }
        count += values.count
        return true
    }

    /// Changes the last element in place. Only the owning thread; the buffer must not be empty.
    func updateLast(_ change: (inout Element) -> Void) {
        precondition(count > 0, "an empty record buffer has no last element")
        change(&base[count - 1])
    }

    /// The elements from `offset` on, valid as long as the buffer lives.
    func slice(at offset: Int, count length: Int) -> UnsafeBufferPointer<Element> {
        precondition(offset >= 0 && length >= 0 && offset + length <= count, "slice outside the record buffer")
        return UnsafeBufferPointer(start: base + offset, count: length)
    }
}

// Inlinable: the harness reads millions of records in other modules.
extension RecordBuffer: RandomAccessCollection {
    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { count }

    @inlinable
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < count, "index outside the record buffer")
        return base[position]
    }

    @inlinable
    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<Element>) throws -> Result
    ) rethrows -> Result? {
        try body(UnsafeBufferPointer(start: base, count: count))
    }
}

/// Why a recorder could not be made.
public enum RecorderError: Error, CustomStringConvertible, Equatable {
    case noAddressSpace(bytes: Int, errno: Int32)

    public var description: String {
        switch self {
        case .noAddressSpace(let bytes, let code):
            "recorder: cannot reserve \(bytes) bytes of address space (errno \(code)); "
                + "raise `ulimit -v` or shorten the trial"
        }
    }
}
