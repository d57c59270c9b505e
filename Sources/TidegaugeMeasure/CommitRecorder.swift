// Records the commits of one writer. One thread records; reading starts after it has ended (see RecordBuffer for
// ownership instead of locks).

/// Times and version of one transaction, in monotonic ns.
public struct CommitRecord: BitwiseCopyable, Sendable, Equatable {
    /// Due time in the schedule, if writers follow one (`writers.load: open`); otherwise equal to `beginNs`.
    public var dueNs: Int64
    /// The write call was entered, or a `SelfTimedWriter` sent the request.
    public var beginNs: Int64
    /// The write lock was granted, or the transaction had begun if the engine has no lock.
    public var lockedNs: Int64
    /// The commit returned.
    public var committedNs: Int64
    /// Store version after the commit; a token until the load has ended if the store conforms to `LateVersions`.
    public var version: Int64

    public init(dueNs: Int64, beginNs: Int64, lockedNs: Int64, committedNs: Int64, version: Int64) {
        (self.dueNs, self.beginNs, self.lockedNs) = (dueNs, beginNs, lockedNs)
        (self.committedNs, self.version) = (committedNs, version)
    }
}

/// Records the commits of one writer, without allocation or lock.
public final class CommitRecorder: Sendable {
    /// The commits in the order in which they returned.
    public let records: RecordBuffer<CommitRecord>

    /// - Parameters:
    ///   - capacity: maximum number of commits. Unused capacity only costs address space.
    ///   - prefaulted: number of records whose memory is mapped in advance.
    /// - Throws: `RecorderError.noAddressSpace`.
    public init(capacity: Int, prefaulted: Int = 0) throws(RecorderError) {
        records = try RecordBuffer(capacity: capacity, prefaulted: prefaulted)
    }

    /// - Parameter records: records that are kept in a file.
    public init(_ records: RecordBuffer<CommitRecord>) { self.records = records }

    /// Records a commit, or counts it as overflow. Only on the writer's thread.
    @discardableResult
    public func record(_ record: CommitRecord) -> Bool { records.append(record) }

    /// Number of commits that were not kept. A trial with any must report it.
    public var overflowCount: Int { records.overflowCount }
    /// Maximum number of commits.
    public var capacity: Int { records.capacity }
}
