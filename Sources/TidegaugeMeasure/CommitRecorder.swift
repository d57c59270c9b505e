// What one writer did, one record per commit. One thread records; reading starts after that thread has ended (see
// RecordBuffer for what guards what: nothing, by ownership).

/// The four moments of one transaction and the version it made. Monotonic ns.
public struct CommitRecord: BitwiseCopyable, Sendable, Equatable {
    /// Its place in the schedule; in a closed loop the same as `beginNs`.
    public var dueNs: Int64
    /// The write call was entered.
    public var beginNs: Int64
    /// The write lock was granted.
    public var lockedNs: Int64
    /// Commit returned.
    public var committedNs: Int64
    /// The store's version after it; for engines without versions, the stamp the rows were given.
    public var version: Int64

    public init(dueNs: Int64, beginNs: Int64, lockedNs: Int64, committedNs: Int64, version: Int64) {
        (self.dueNs, self.beginNs, self.lockedNs) = (dueNs, beginNs, lockedNs)
        (self.committedNs, self.version) = (committedNs, version)
    }
}

/// Collects the commits of one writer. Recording: nanoseconds, no allocation, no lock.
public final class CommitRecorder: Sendable {
    /// The commits in the order they returned.
    public let records: RecordBuffer<CommitRecord>

    /// - Parameters:
    ///   - capacity: Most commits that can be kept; unused capacity costs address space only.
    ///   - prefaulted: Records whose memory is brought in now.
    /// - Throws: `RecorderError.noAddressSpace`.
    public init(capacity: Int, prefaulted: Int = 0) throws(RecorderError) {
        records = try RecordBuffer(capacity: capacity, prefaulted: prefaulted)
    }

    /// - Parameter records: as they are kept in a file.
    public init(_ records: RecordBuffer<CommitRecord>) { self.records = records }

    /// Keeps `record`, or counts it as overflow. Only the writer's thread.
    @discardableResult
    public func record(_ record: CommitRecord) -> Bool { records.append(record) }

    /// Commits that were made and not kept. A trial with any must say so.
    public var overflowCount: Int { records.overflowCount }
}
