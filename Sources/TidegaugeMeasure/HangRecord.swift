// A hang as it is reported: what `hangs.csv`, the report's page and the trace of the last events are made of. Plain values,
// part of a trial's result.

/// What kept a trial from going on, or could have.
public struct HangRecord: Codable, Sendable, Equatable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// Threads wait for one another in a closed circle.
        case deadlock
        /// Lock classes were taken in contradictory orders, and nothing hung.
        case inversion
        /// Nothing moves, and no circle is known.
        case stall
        /// Nothing was finished in time, and threads are at work.
        case slow
        /// The process stopped itself.
        case trap
        /// The process was stopped by a fault.
        case crash
    }

    /// Where a thread stood.
    public struct Stand: Codable, Sendable, Equatable {
        public var thread: String
        public var tid: Int32
        public var holds: [String]
        public var waitsFor: String?
        /// Innermost first.
        public var stack: [String]

        public init(thread: String, tid: Int32, holds: [String], waitsFor: String?, stack: [String]) {
            (self.thread, self.tid, self.holds) = (thread, tid, holds)
            (self.waitsFor, self.stack) = (waitsFor, stack)
        }
    }

    public var kind: Kind
    /// `thread>resource`, one per link; of an inversion the classes, each held while the next is taken.
    public var cycle: [String]
    /// Who waits for whom, for people.
    public var sentence: String
    /// From the moment it could not go on any more to the report.
    public var afterNs: Int64
    /// The scenario said so.
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
