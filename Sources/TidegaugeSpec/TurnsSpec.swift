// Taking turns with another process: the two sides of a comparison run at the same time and work at different ones, every
// few milliseconds, so that whatever slows the machine for longer than that slows both. On a shared host that is nearly
// everything: another machine on the other half of a core makes commits 1.6 times as dear, for tenths of seconds.
//
// The turns lie on a grid of the monotonic clock, so nobody has to be told whose turn it is. Pure.

public struct TurnsSpec: Codable, Sendable, Equatable {
    /// Where windows begin, so that those of two processes which get ready one shortly after the other begin together.
    private static let startsEveryNs: Int64 = 100_000_000

    public var lengthNs: Int64
    /// Whose turn comes second in each cycle of two.
    public var isSecond: Bool
    /// Where the first writer stays, counted among the cores it may use; the next one on the next. Each core has
    /// neighbours of its own: on two different ones, taking turns would be for nothing.
    public var core: Int

    public init(lengthNs: Int64 = 10_000_000, isSecond: Bool, core: Int) {
        (self.lengthNs, self.isSecond, self.core) = (lengthNs, isSecond, core)
    }

    private var cycleNs: Int64 { 2 * lengthNs }
    private var offsetNs: Int64 { isSecond ? lengthNs : 0 }
    /// The last tenth of a turn is left free: what its commits have set going ends there.
    private var workNs: Int64 { lengthNs - lengthNs / 10 }

    /// How long `ns` of work take, waiting included.
    public func wallNs(_ ns: Int64) -> Int64 { (ns + workNs - 1) / workNs * cycleNs }

    /// Where a window may begin: at the start of a turn.
    public func startNs(notBefore earliestNs: Int64) -> Int64 {
        // A whole number of cycles, so that every start lies in the same place of one.
        let everyNs = (Self.startsEveryNs + cycleNs - 1) / cycleNs * cycleNs
        return (earliestNs - offsetNs + everyNs - 1) / everyNs * everyNs + offsetNs
    }

    /// When it is this process's turn again; nil where it is, or where the load ended at `endNs`.
    public func nextNs(after nowNs: Int64, before endNs: Int64 = .max) -> Int64? {
        guard nowNs < endNs else { return nil }
        let inCycleNs = (nowNs - offsetNs) % cycleNs
        return inCycleNs < workNs ? nil : nowNs - inCycleNs + cycleNs
    }
}

extension TrialSpec {
    /// How long `ns` of load take.
    public func wallNs(_ ns: Int64) -> Int64 { turns?.wallNs(ns) ?? ns }

    /// Whether its load can stop for a turn and go on: there is no schedule to be kept, and nobody else who writes.
    public var canTakeTurns: Bool {
        writers.load != .open && writers.process == .same && writers.hosts == nil && fault.kind == .none
            && dataset.neighbour == .none
            && choreography == nil
    }
}
