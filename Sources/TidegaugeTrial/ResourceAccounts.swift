// Resources that a trial used: CPU time and allocations from the start of its measured window on, and instructions of a
// counted trial.
import TidegaugeMeasure

/// CPU time from the start of the measured window until the wait for the observers' last callbacks was over (on a host
/// without observers: until the window and its commits ended). It excludes the harness's own work: the conducting
/// thread, the hiccup and wake probes, the reader of an engine's output, and active waiting.
public struct CPUAccount: Codable, Sendable, Equatable {
    /// CPU time of the process, of a server of the measured engine, and of separate writing processes.
    public var processNs: Int64 = 0
    /// CPU time in ns by `ThreadRole`.
    public var roleNs: [String: Int64] = [:]
    /// Subtracted CPU time of the harness's threads.
    public var harnessNs: Int64 = 0
    /// Active waiting, subtracted from the writers.
    public var spunNs: Int64 = 0
    /// Number of commits that returned in that time.
    public var commits = 0
    /// Number of those commits that affect at least one measured observer.
    public var affectingCommits = 0

    package init() {}

    /// Adds the CPU time that another process used for the same commits.
    package mutating func add(_ other: CPUAccount) {
        processNs += other.processNs
        roleNs.merge(other.roleNs, uniquingKeysWith: +)
        harnessNs += other.harnessNs
        spunNs += other.spunNs
    }

    /// Process CPU per commit in ns, or nil without commits.
    public var perCommitNs: Double? { commits > 0 ? Double(processNs) / Double(commits) : nil }
}

/// Allocations from the start of the measured window until the wait for the observers' last callbacks was over.
public struct AllocationAccount: Codable, Sendable, Equatable {
    /// Totals of the process, without the conducting thread's bytes.
    public var process: AllocationTotals
    public var writerBytes: Int64
    /// Bytes of the observing threads; nil if deliveries run on queues.
    public var observerBytes: Int64?
    public var commits: Int
    public var affectingCommits: Int

    package init(
        process: AllocationTotals, writerBytes: Int64, observerBytes: Int64?, commits: Int, affectingCommits: Int
    ) {
        (self.process, self.writerBytes, self.observerBytes) = (process, writerBytes, observerBytes)
        (self.commits, self.affectingCommits) = (commits, affectingCommits)
    }

    /// Bytes allocated neither by a writer nor by an observing thread; nil if deliveries run on queues.
    package var engineBytes: Int64? { observerBytes.map { max(0, process.bytes - writerBytes - $0) } }
}

/// Work of each role's threads in the commits of a counted trial, and in idle turns.
public struct CountAccount: Codable, Sendable, Equatable {
    /// Counts of one role or of all roles. Nil: the counter does not provide them.
    public struct Amounts: Codable, Sendable, Equatable {
        public var instructions: Int64 = 0
        public var allocations: Int64?
        public var systemCalls: Int64?
        /// Reads of the storage engine.
        public var reads: Int64?

        public init(
            instructions: Int64 = 0, allocations: Int64? = nil, systemCalls: Int64? = nil, reads: Int64? = nil
        ) {
            (self.instructions, self.allocations) = (instructions, allocations)
            (self.systemCalls, self.reads) = (systemCalls, reads)
        }

        /// Adds two amounts. A count is nil only if both sides lack it.
        public static func += (sum: inout Amounts, part: Amounts) { sum = sum.with(part, times: 1) }

        /// Returns the difference from an earlier reading.
        public func since(_ earlier: Amounts?) -> Amounts { earlier.map { with($0, times: -1) } ?? self }

        private func with(_ other: Amounts, times factor: Int64) -> Amounts {
            func add(_ left: Int64?, _ right: Int64?) -> Int64? {
                left == nil && right == nil ? nil : (left ?? 0) + factor * (right ?? 0)
            }
            return Amounts(
                instructions: instructions + factor * other.instructions,
                allocations: add(allocations, other.allocations), systemCalls: add(systemCalls, other.systemCalls),
                reads: add(reads, other.reads))
        }
    }

    public var counter: InstructionCounter
    public var commits: Int
    /// Number of those commits that affect at least one measured observer.
    public var affectingCommits: Int
    /// Number of idle turns of all threads: turns without a commit.
    public var rests: Int
    /// Amounts by `ThreadRole`. The parent adds callgrind's counts from the files that the child leaves.
    public var inCommits: [String: Amounts] = [:]
    public var atRest: [String: Amounts] = [:]

    package init(counter: InstructionCounter, commits: Int, affectingCommits: Int, rests: Int) {
        (self.counter, self.commits, self.affectingCommits, self.rests) = (counter, commits, affectingCommits, rests)
    }

    /// Adds callgrind's counts, read by the parent. Callgrind omits threads that did nothing; they count as 0.
    public mutating func add(inCommits: [String: Amounts], atRest: [String: Amounts]) {
        func join(_ seen: inout [String: Amounts], _ counted: [String: Amounts]) {
            let nothing = Amounts(allocations: 0, systemCalls: 0, reads: 0)
            for role in Set(seen.keys).union(counted.keys) { seen[role, default: .init()] += counted[role] ?? nothing }
        }
        join(&self.inCommits, inCommits)
        join(&self.atRest, atRest)
    }

    /// Amount of some roles per commit that affects an observer, or per commit if none does. The cost of idle turns
    /// is subtracted. Nil if the counter does not provide it, no such thread was seen, or there were no commits or
    /// no idle turns.
    package func perCommit(_ roles: [ThreadRole], _ part: (Amounts) -> Int64?) -> Double? {
        let counted = affectingCommits > 0 ? affectingCommits : commits
        func sum(_ amounts: [String: Amounts]) -> Double? {
            let parts = roles.compactMap { amounts[$0.rawValue] }.map(part)
            return parts.isEmpty || parts.contains(nil) ? nil : Double(parts.reduce(0) { $0 + $1! })
        }
        guard counted > 0, rests > 0, let all = sum(inCommits) else { return nil }
        return (all - (sum(atRest) ?? 0) / Double(rests) * Double(commits)) / Double(counted)
    }
}
