// What one observer was told, one record per callback, with the index lists copied into a buffer beside it so that the
// oracle can replay them off the clock. One thread at a time records (deliveries of one site are serial); reading
// starts after the site has ended (see RecordBuffer for what guards what: nothing, by ownership).

/// What is special about a callback.
public struct CallbackFlags: OptionSet, BitwiseCopyable, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The first delivery of a subscription, as the engine says.
    public static let initial = CallbackFlags(rawValue: 1)
    /// The engine gave no version; `version` is then 0 and means nothing.
    public static let noVersion = CallbackFlags(rawValue: 2)
    /// The index buffer was full: the counts are right, the lists are gone.
    public static let indicesLost = CallbackFlags(rawValue: 4)
}

/// One callback. Times are monotonic ns.
public struct CallbackRecord: BitwiseCopyable, Sendable, Equatable {
    public var enterNs: Int64
    /// 0 while the callback has not ended.
    public var exitNs: Int64
    /// The covered version: where the callback's data stands.
    public var version: Int64
    /// Rows in the collection after this delivery.
    public var count: Int64
    /// Where this callback's lists begin in the index buffer: deletions, insertions, modifications, one after the other.
    public var indexOffset: Int64
    public var deletionCount: Int32
    public var insertionCount: Int32
    public var modificationCount: Int32
    /// Moved rows: each is one of the deletions and one of the insertions.
    public var moveCount: Int32
    public var flags: CallbackFlags

    public var isInitial: Bool { flags.contains(.initial) }
}

/// Collects the callbacks of one observer. Recording: nanoseconds plus one copy of the lists; no allocation, no lock.
public final class CallbackRecorder: Sendable {
    /// The callbacks in the order they came.
    public let records: RecordBuffer<CallbackRecord>
    private let indexBuffer: RecordBuffer<Int32>
    /// The site's own.
    nonisolated(unsafe) private var lastWasKept = false

    /// - Parameters:
    ///   - capacity: Most callbacks that can be kept; unused capacity costs address space only.
    ///   - indexCapacity: Most indices, over all lists of all callbacks.
    ///   - prefaulted: Callbacks (and as many indices) whose memory is brought in now.
    /// - Throws: `RecorderError.noAddressSpace`.
    public init(capacity: Int, indexCapacity: Int, prefaulted: Int = 0) throws(RecorderError) {
        records = try RecordBuffer(capacity: capacity, prefaulted: prefaulted)
        indexBuffer = try RecordBuffer(capacity: indexCapacity, prefaulted: prefaulted)
    }

    /// What another process has recorded.
    public init(_ callbacks: [CallbackRecord], indices: [Int32]) throws(RecorderError) {
        records = try RecordBuffer(capacity: callbacks.count)
        indexBuffer = try RecordBuffer(capacity: indices.count)
        for callback in callbacks { records.append(callback) }
        for index in indices { indexBuffer.append(index) }
    }

    /// All lists of all callbacks, one after the other.
    public var allIndices: [Int32] { Array(indexBuffer) }

    /// Keeps one callback, or counts it as overflow. Only on the observer's site, inside the callback; call
    /// `finish(exitNs:)` as the last thing the callback does.
    /// - Parameter version: `nil` where the engine has none.
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
        lastWasKept = records.append(
            CallbackRecord(
                enterNs: enterNs, exitNs: 0, version: version ?? 0, count: Int64(count), indexOffset: Int64(offset),
                deletionCount: Int32(clamping: deletions.count), insertionCount: Int32(clamping: insertions.count),
                modificationCount: Int32(clamping: modifications.count), moveCount: Int32(clamping: moveCount),
                flags: flags))
        return lastWasKept
    }

    /// Notes when the callback recorded last ended. Nothing happens if that one did not fit.
    public func finish(exitNs: Int64) {
        guard lastWasKept else { return }
        records.updateLast { $0.exitNs = exitNs }
    }

    /// Puts versions where the engine gave tokens, in the first callbacks. Once the site has been waited for, and only once.
    public func renumber(first count: Int, _ version: (Int64) -> Int64) {
        records.updateFirst(count) { if !$0.flags.contains(.noVersion) { $0.version = version($0.version) } }
    }

    /// Callbacks that came and were not kept. A trial with any must say so, and its oracle cannot replay.
    public var overflowCount: Int { records.overflowCount }
    /// Indices that were not kept. Never more than a count: the callbacks concerned carry `.indicesLost`.
    public var indexOverflowCount: Int { indexBuffer.overflowCount }

    private func append(_ indices: borrowing [Int]) -> Bool {
        indices.withUnsafeBufferPointer { values in indexBuffer.append(contentsOf: values) { Int32(clamping: $0) } }
    }
}

// Reading, after the clock has stopped. The slices stay valid as long as the recorder lives.
extension CallbackRecorder {
    /// Indices in the collection before the callback, ascending, those of moved rows included; `nil` if they were lost.
    public func deletions(of record: CallbackRecord) -> UnsafeBufferPointer<Int32>? {
        list(of: record, skipping: 0, count: record.deletionCount)
    }

    /// Indices in the collection after the callback, ascending, those of moved rows included; `nil` if they were lost.
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
