// A hang as reported in `hangs.csv`, on the page and in the trace of the last events. Plain values of a trial's result.

/// A hang, or a possible one.
public struct HangRecord: Codable, Sendable, Equatable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// Threads wait for one another in a cycle.
        case deadlock
        /// Lock classes were taken in contradictory orders, without a hang.
        case inversion
        /// Nothing moves, and no cycle is known.
        case stall
        /// A time limit was exceeded while threads were computing.
        case slow
        /// A check in the program stopped the process.
        case trap
        /// An invalid memory access or the like stopped the process.
        case crash
    }

    /// Locks, wait and stack of a thread.
    public struct Stand: Codable, Sendable, Equatable {
        public var thread: String
        public var tid: Int32
        public var holds: [String]
        public var waitsFor: String?
        /// Stack frames, innermost first.
        public var stack: [String]

        public init(thread: String, tid: Int32, holds: [String], waitsFor: String?, stack: [String]) {
            (self.thread, self.tid, self.holds) = (thread, tid, holds)
            (self.waitsFor, self.stack) = (waitsFor, stack)
        }
    }

    public var kind: Kind
    /// Links of the cycle as `thread>resource`. For an inversion the lock classes, each held while the next is taken.
    public var cycle: [String]
    /// Description for people.
    public var sentence: String
    /// Time in ns from the hang to the report; 0 if unknown.
    public var afterNs: Int64
    /// Whether the scenario expects it.
    public var isExpected: Bool
    public var stands: [Stand]
    /// The last events of each thread.
    public var events: [TraceSpan]

    public init(
        _ kind: Kind, cycle: [String] = [], sentence: String, afterNs: Int64 = 0, isExpected: Bool = false,
        stands: [Stand] = [], events: [TraceSpan] = []
    ) {
        (self.kind, self.cycle, self.sentence, self.afterNs) = (kind, cycle, sentence, afterNs)
        (self.isExpected, self.stands, self.events) = (isExpected, stands, events)
    }
}
