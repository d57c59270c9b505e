// Which figures a disturbed machine may change. One rule for the limits of a run and for the pairs of a comparison.

extension Metric {
    /// Of memory, pages, descriptors and events that the store or its promises brought about, none of which a stolen or
    /// awaited processor changes: bytes, allocations, counts, and ratios of such. A disturbed trial counts for these. What clocks, rates and CPU
    /// say it may not, nor what depends on who came first: how many commits a callback covers, how far an observer is behind,
    /// how many versions are alive because of it.
    public var isCounted: Bool {
        switch unit {
        case "count", "files", "bytes", "bytes/commit", "allocations/commit": true
        default: self == .spaceAmplification
        }
    }

    /// A time that may lie under zero: the callback of a thread that preempts the writer begins before the commit returns.
    public var mayBeNegative: Bool { self == .deliveryLatency || self == .lastDeliveryLatency }
}
