// Time slices shared with another process. Both sides of a comparison run at the same time and work in alternating
// slices of a few milliseconds, so that longer disturbances of the machine hit both.
//
// Slices lie on a grid of the monotonic clock, so the processes need not communicate. Pure.

public struct TurnsSpec: Codable, Sendable, Equatable {
    /// Distance of the points at which a side may start. The points of the second side are one slice later.
    private static let startsEveryNs: Int64 = 100_000_000

    public var lengthNs: Int64
    /// Whether this side has the second slice of each cycle of two.
    public var isSecond: Bool
    /// Index of the first writer's core among the allowed cores, modulo their number. Further writers use the following
    /// ones. Both sides must use the same core, because other programs load cores differently.
    public var core: Int

    public init(lengthNs: Int64 = 10_000_000, isSecond: Bool, core: Int) {
        (self.lengthNs, self.isSecond, self.core) = (lengthNs, isSecond, core)
    }

    private var cycleNs: Int64 { 2 * lengthNs }
    private var offsetNs: Int64 { isSecond ? lengthNs : 0 }
    /// Working part of a slice. The last tenth stays free, so that work started by its commits ends within the slice.
    private var workNs: Int64 { lengthNs - lengthNs / 10 }

    /// Returns the wall time that `ns` of work take, in whole cycles.
    public func wallNs(_ ns: Int64) -> Int64 { (ns + workNs - 1) / workNs * cycleNs }

    /// Returns the next time at which a window may begin: the start of a slice.
    public func startNs(notBefore earliestNs: Int64) -> Int64 {
        // A multiple of the cycle, so that every start has the same phase.
        let everyNs = (Self.startsEveryNs + cycleNs - 1) / cycleNs * cycleNs
        return (earliestNs - offsetNs + everyNs - 1) / everyNs * everyNs + offsetNs
    }

    /// Returns the start of this process's next slice. Nil in the working part of its own slice, and from `endNs` on.
    public func nextNs(after nowNs: Int64, before endNs: Int64 = .max) -> Int64? {
        guard nowNs < endNs else { return nil }
        let inCycleNs = (nowNs - offsetNs) % cycleNs
        return inCycleNs < workNs ? nil : nowNs - inCycleNs + cycleNs
    }
}

extension TrialSpec {
    /// Returns the wall time that `ns` of load take.
    public func wallNs(_ ns: Int64) -> Int64 { turns?.wallNs(ns) ?? ns }

    /// Whether the load can pause between slices: no schedule, no other writing process or host, no fault, no co-tenant
    /// and no interleaving test.
    public var canTakeTurns: Bool {
        writers.load != .open && writers.process == .same && writers.hosts == nil && fault.kind == .none
            && dataset.coTenant == .none
            && interleaving == nil
    }
}
