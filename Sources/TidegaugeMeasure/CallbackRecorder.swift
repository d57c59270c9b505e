// Records the callbacks of one observer. Index lists are copied to a second buffer, so that the oracle (the model that
// checks callbacks) can replay them after the load. One thread at a time records, because deliveries of a delivery
// context are serial. Reading starts after the context has been waited for (see RecordBuffer for ownership instead of
// locks).
import Synchronization

/// Properties of a callback.
public struct CallbackFlags: OptionSet, BitwiseCopyable, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The first delivery of a subscription, according to the engine.
    public static let initial = CallbackFlags(rawValue: 1)
    /// The engine gave no version; `version` is 0 and has no meaning.
    public static let noVersion = CallbackFlags(rawValue: 2)
    /// The index buffer was full: the counts are valid but the lists are missing.
    public static let indicesLost = CallbackFlags(rawValue: 4)
}

/// A callback, with monotonic times in ns.
public struct CallbackRecord: BitwiseCopyable, Sendable, Equatable {
    public var enterNs: Int64
    /// End of the callback; 0 until `finish` sets it.
    public var exitNs: Int64
    /// Version of the callback's data, which contains all commits up to it. If the store conforms to `LateVersions`, a
    /// token until `renumber` replaces it.
    public var version: Int64
    /// Number of rows in the collection after this delivery.
    public var count: Int64
    /// Start of the lists in the index buffer: deletions, insertions and modifications, in this order.
    public var indexOffset: Int64
    public var deletionCount: Int32
    public var insertionCount: Int32
    public var modificationCount: Int32
    /// Number of moved rows. Each is counted in both deletions and insertions.
    public var moveCount: Int32
    public var flags: CallbackFlags

    public var isInitial: Bool { flags.contains(.initial) }
}

/// Records the callbacks of one observer, without allocation or lock.
public final class CallbackRecorder: Sendable {
    /// The callbacks in order.
    public let records: RecordBuffer<CallbackRecord>
    private let indexBuffer: RecordBuffer<Int32>
    /// Used by the context of the observer.
    private let lastWasKept = Atomic<Bool>(false)

    /// - Parameters:
    ///   - capacity: maximum number of callbacks. Unused capacity only costs address space.
    ///   - indexCapacity: maximum number of indices over all callbacks.
    ///   - prefaulted: number of callbacks and of indices whose memory is mapped in advance.
    /// - Throws: `RecorderError.noAddressSpace`.
    public init(capacity: Int, indexCapacity: Int, prefaulted: Int = 0) throws(RecorderError) {
        records = try RecordBuffer(capacity: capacity, prefaulted: prefaulted)
        indexBuffer = try RecordBuffer(capacity: indexCapacity, prefaulted: prefaulted)
    }

    /// Creates a recorder with the records of another process.
    public init(_ callbacks: [CallbackRecord], indices: [Int32]) throws(RecorderError) {
        records = try RecordBuffer(capacity: callbacks.count)
        indexBuffer = try RecordBuffer(capacity: indices.count)
        for callback in callbacks { records.append(callback) }
        for index in indices { indexBuffer.append(index) }
    }

    /// The recorded indices, in order.
    public var allIndices: [Int32] { Array(indexBuffer) }

    /// Records a callback, or counts it as overflow. Called on the observer's delivery context, inside the callback,
    /// which must end with `finish(exitNs:)`.
    /// - Parameter version: `nil` if the engine has no versions.
    @discardableResult
    public func record(
        enterNs: Int64, version: Int64?, isInitial: Bool, count: Int, deletions: borrowing [Int],
        insertions: borrowing [Int], modifications: borrowing [Int], moveCount: Int
    ) -> Bool {
        var flags: CallbackFlags = isInitial ? .initial : []
        if version == nil { flags.insert(.noVersion) }
        let offset = indexBuffer.count
        let deletionsKept = append(deletions)
        let insertionsKept = append(insertions)
        let modificationsKept = append(modifications)
        if !(deletionsKept && insertionsKept && modificationsKept) { flags.insert(.indicesLost) }
        let isKept = records.append(
            CallbackRecord(
                enterNs: enterNs, exitNs: 0, version: version ?? 0, count: Int64(count), indexOffset: Int64(offset),
                deletionCount: Int32(clamping: deletions.count), insertionCount: Int32(clamping: insertions.count),
                modificationCount: Int32(clamping: modifications.count), moveCount: Int32(clamping: moveCount),
                flags: flags))
        lastWasKept.store(isKept, ordering: .relaxed)
        return isKept
    }

    /// Sets the end of the last recorded callback. Does nothing if it was not kept.
    public func finish(exitNs: Int64) {
        guard lastWasKept.load(ordering: .relaxed) else { return }
        records.updateLast { $0.exitNs = exitNs }
    }

    /// Replaces tokens by versions in the first callbacks. Called after the delivery context has been waited for.
    public func renumber(first count: Int, _ version: (Int64) -> Int64) {
        records.updateFirst(count) { if !$0.flags.contains(.noVersion) { $0.version = version($0.version) } }
    }

    /// Number of callbacks that were not kept. A trial with any must report it, and its oracle cannot replay.
    public var overflowCount: Int { records.overflowCount }
    /// Maximum number of callbacks.
    public var capacity: Int { records.capacity }
    /// Maximum number of indices over all callbacks.
    public var indexCapacity: Int { indexBuffer.capacity }
    /// Number of indices that were not kept. Their callbacks have the flag `.indicesLost`.
    public var indexOverflowCount: Int { indexBuffer.overflowCount }

    private func append(_ indices: borrowing [Int]) -> Bool {
        indices.withUnsafeBufferPointer { values in indexBuffer.append(contentsOf: values) { Int32(clamping: $0) } }
    }
}

// Reading, after recording has ended. Slices are valid as long as the recorder lives.
extension CallbackRecorder {
    /// Indices in the collection before the callback, ascending, including moved rows; `nil` if they were lost.
    public func deletions(of record: CallbackRecord) -> UnsafeBufferPointer<Int32>? {
        list(of: record, skipping: 0, count: record.deletionCount)
    }

    /// Indices in the collection after the callback, ascending, including moved rows; `nil` if they were lost.
    public func insertions(of record: CallbackRecord) -> UnsafeBufferPointer<Int32>? {
        list(of: record, skipping: record.deletionCount, count: record.insertionCount)
    }

    /// Indices in the collection after the callback, ascending; `nil` if they were lost.
    public func modifications(of record: CallbackRecord) -> UnsafeBufferPointer<Int32>? {
        list(of: record, skipping: record.deletionCount + record.insertionCount, count: record.modificationCount)
    }

    private func list(of record: CallbackRecord, skipping: Int32, count: Int32) -> UnsafeBufferPointer<Int32>? {
        guard !record.flags.contains(.indicesLost) else { return nil }
        return indexBuffer.slice(at: Int(record.indexOffset) + Int(skipping), count: Int(count))
    }
}
