// What a trial took of the machine within its measured window: CPU time, allocations, and instructions where it was counted.
import TidegaugeMeasure

/// CPU time from the start of the measured window until every observer had covered its last commit. The harness's own
/// work (the conducting thread, the hiccup probe, active waiting for due times) is in none of the figures.
public struct CPUAccount: Codable, Sendable, Equatable {
    public var processNs: Int64 = 0
    /// By `ThreadRole`.
    public var roleNs: [String: Int64] = [:]
    /// Taken off: conducting thread and hiccup probe.
    public var harnessNs: Int64 = 0
    /// Taken off the writers: active waiting.
    public var spunNs: Int64 = 0
    /// Commits that returned in that time.
    public var commits = 0
    /// Those of them that affect at least one observer.
    public var affectingCommits = 0

    package init() {}

    /// What another process has used for the same commits.
    package mutating func add(_ other: CPUAccount) {
        processNs += other.processNs
        roleNs.merge(other.roleNs, uniquingKeysWith: +)
        harnessNs += other.harnessNs
        spunNs += other.spunNs
    }

    /// Process CPU per commit, ns; nil without commits.
    public var perCommitNs: Double? { commits > 0 ? Double(processNs) / Double(commits) : nil }
}

/// Allocations from the start of the measured window until every observer had covered its last commit.
public struct AllocationAccount: Codable, Sendable, Equatable {
    /// Without the conducting thread's bytes.
    public var process: AllocationTotals
    public var writerBytes: Int64
    /// Of the observing threads; nil where deliveries run on queues.
    public var observerBytes: Int64?
    public var commits: Int
    public var affectingCommits: Int

    package init(
        process: AllocationTotals, writerBytes: Int64, observerBytes: Int64?, commits: Int, affectingCommits: Int
    ) {
        (self.process, self.writerBytes, self.observerBytes) = (process, writerBytes, observerBytes)
        (self.commits, self.affectingCommits) = (commits, affectingCommits)
    }

    /// Everything that is neither a writer's nor an observing thread's.
    package var engineBytes: Int64? { observerBytes.map { max(0, process.bytes - writerBytes - $0) } }
}

/// What the threads of each role did in the commits of a counted trial, and in as many turns without one.
public struct CountAccount: Codable, Sendable, Equatable {
    /// Of one role or of all, as far as the counter tells.
    public struct Amounts: Codable, Sendable, Equatable {
        public var instructions: Int64 = 0
        public var allocations: Int64?
        public var systemCalls: Int64?
        /// Of the storage engine.
        public var reads: Int64?

        public init(
            instructions: Int64 = 0, allocations: Int64? = nil, systemCalls: Int64? = nil, reads: Int64? = nil
        ) {
            (self.instructions, self.allocations) = (instructions, allocations)
            (self.systemCalls, self.reads) = (systemCalls, reads)
        }

        /// What either of them knows is known.
        public static func += (sum: inout Amounts, part: Amounts) { sum = sum.with(part, times: 1) }

        /// What came behind an earlier reading.
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
    /// Those of them that affect at least one observer.
    public var affectingCommits: Int
    /// Turns of all threads in which nobody committed.
    public var rests: Int
    /// By `ThreadRole`. What callgrind counts the parent adds, when it has read what the child left.
    public var inCommits: [String: Amounts] = [:]
    public var atRest: [String: Amounts] = [:]

    package init(counter: InstructionCounter, commits: Int, affectingCommits: Int, rests: Int) {
        (self.counter, self.commits, self.affectingCommits, self.rests) = (counter, commits, affectingCommits, rests)
    }

    /// What the parent has read of callgrind, which has no word of a thread that did nothing.
    public mutating func add(inCommits: [String: Amounts], atRest: [String: Amounts]) {
        func join(_ seen: inout [String: Amounts], _ counted: [String: Amounts]) {
            let nothing = Amounts(allocations: 0, systemCalls: 0, reads: 0)
            for role in Set(seen.keys).union(counted.keys) { seen[role, default: .init()] += counted[role] ?? nothing }
        }
        join(&self.inCommits, inCommits)
        join(&self.atRest, atRest)
    }

    /// Of the threads of some roles, per commit that affects an observer (or per commit, where none does): without what the
    /// turns take. Nil where the counter does not tell, or none of them was seen.
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
