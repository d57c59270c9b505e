// What this machine needs for something that every store does as well, taken in the same run and minute: a limit in multiples
// of one holds on a slow machine as on a fast one.

/// Names as limits have them, behind a number: `<= 4 raw_commit`, or `>= 2 per raw_commit` of a rate.
public enum Yardstick: String, Codable, Sendable, CaseIterable {
    /// One row of 48 bytes put into 10 000 others and committed by LMDB itself, without a flush, in the memory file system.
    case rawCommit = "raw_commit"
    /// One thread wakes another, which wakes it in turn.
    case twoWakes = "two_wakes"
    /// A thousand loads, each from where the one before says, over 4 MiB.
    case memoryWalk = "memory_walk"
}

/// A yardstick before and after what is held against it, ns.
public struct YardstickReading: Sendable, Equatable {
    /// The larger may be so much more than the smaller.
    private static let steadyRatio = 1.5

    public var beforeNs: Double
    public var afterNs: Double

    public init(beforeNs: Double, afterNs: Double) { (self.beforeNs, self.afterNs) = (beforeNs, afterNs) }

    public var meanNs: Double { (beforeNs + afterNs) / 2 }
    /// Whether the machine was the same for it all the time.
    public var isSteady: Bool { max(beforeNs, afterNs) <= Self.steadyRatio * min(beforeNs, afterNs) }
}
