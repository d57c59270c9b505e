// Memory of the recorders: address space is reserved in advance and pages are allocated at first write, without
// `malloc` or lock while recording.
import CStillingWellPlatform
import Glibc

/// A bounded, append-only array of trivial values in separate memory. Overflow is counted and never stops the program.
///
/// Unchecked because no lock guards it: one thread appends, and others read after that thread was joined or waited for.
/// Exclusive access to its counts is not checked at run time, because the check would cost time at every record.
public final class RecordBuffer<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    /// Maximum number of elements.
    public let capacity: Int
    /// Elements appended while there was room.
    @exclusivity(unchecked) public private(set) var count = 0
    /// Elements that did not fit and are lost.
    @exclusivity(unchecked) public private(set) var overflowCount = 0

    @usableFromInline let base: UnsafeMutablePointer<Element>
    private let byteCount: Int
    private let memory: UnsafeMutableRawPointer
    /// Number of complete elements, stored in the file for other processes. nil without a file.
    private let published: UnsafeMutablePointer<UInt64>?

    /// Offset of the first element in a file. The count is stored before it.
    private static var headerBytes: Int { 4_096 }

    /// Reserves room for `capacity` elements and maps the first `prefaulted` ones, so that recording them causes no
    /// page faults. Unwritten pages take no memory.
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
        self.memory = memory
        published = nil
        base = memory.bindMemory(to: Element.self, capacity: Swift.max(capacity, 1))
        let prefaultBytes = Swift.min(prefaulted, capacity) * MemoryLayout<Element>.stride
        for offset in stride(from: 0, to: prefaultBytes, by: 4096) {
            memory.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self)
        }
    }

    /// Keeps the elements in a file, so that they survive the process.
    /// - Parameter isNew: creates or empties the file; otherwise its content is kept.
    /// - Throws: `RecorderError.noFile`.
    public init(file path: String, capacity: Int, isNew: Bool) throws(RecorderError) {
        self.capacity = capacity
        byteCount = Self.headerBytes + Swift.max(capacity, 1) * MemoryLayout<Element>.stride
        let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC
        let descriptor = open(path, isNew ? flags | O_CREAT | O_TRUNC : flags, 0o600)
        guard descriptor >= 0 else { throw .noFile(path: path, errno: errno) }
        defer { _ = Glibc.close(descriptor) }
        guard !isNew || ftruncate(descriptor, byteCount) == 0 else { throw .noFile(path: path, errno: errno) }
        let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let memory, memory != MAP_FAILED else { throw .noFile(path: path, errno: errno) }
        self.memory = memory
        let published = memory.bindMemory(to: UInt64.self, capacity: 1)
        self.published = published
        base = (memory + Self.headerBytes).bindMemory(to: Element.self, capacity: Swift.max(capacity, 1))
        count = isNew ? 0 : Swift.min(capacity, Int(cp_load64(published)))
    }

    /// Number of complete elements, including those that another process appended to the file.
    public var publishedCount: Int { published.map { Int(cp_load64($0)) } ?? count }

    /// Updates `count` for a file that another process appends to. Only the owning thread.
    public func takePublished() { count = Swift.min(capacity, publishedCount) }

    deinit { munmap(memory, byteCount) }

    /// Appends an element, or counts an overflow. Only the owning thread.
    /// - Returns: whether the element was kept.
    @discardableResult
    public func append(_ element: Element) -> Bool {
        guard count < capacity else {
            overflowCount += 1
            return false
        }
        base[count] = element
        count += 1
        if let published { cp_store64(published, UInt64(count)) }
        return true
    }

    /// Appends all converted `values`, or none and counts them as overflow.
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

    /// Changes the last element in place. Only the owning thread. The buffer must not be empty.
    func updateLast(_ change: (inout Element) -> Void) {
        precondition(count > 0, "an empty record buffer has no last element")
        change(&base[count - 1])
    }

    /// Changes the first `length` elements in place. Called after the owning thread has been waited for.
    func updateFirst(_ length: Int, _ change: (inout Element) -> Void) {
        precondition(length <= count, "fewer elements in the record buffer")
        for index in 0..<length { change(&base[index]) }
    }

    /// Returns the elements from `offset` on, valid as long as the buffer lives.
    func slice(at offset: Int, count length: Int) -> UnsafeBufferPointer<Element> {
        precondition(offset >= 0 && length >= 0 && offset + length <= count, "slice outside the record buffer")
        return UnsafeBufferPointer(start: base + offset, count: length)
    }
}

// Inlinable because other modules read millions of records.
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

/// Error of creating a recorder.
public enum RecorderError: Error, CustomStringConvertible, Equatable {
    case noAddressSpace(bytes: Int, errno: Int32)
    case noFile(path: String, errno: Int32)

    public var description: String {
        switch self {
        case .noAddressSpace(let bytes, let code):
            "recorder: cannot reserve \(bytes) bytes of address space (errno \(code)); raise `ulimit -v` or shorten the trial"
        case .noFile(let path, let code): "recorder: cannot keep records in \(path) (errno \(code)); make room there"
        }
    }
}
