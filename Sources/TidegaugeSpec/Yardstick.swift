// Yardsticks: the machine's own time for a basic operation, measured in the same run. A limit in multiples of a
// yardstick depends less on the machine.

/// Names as written in limits, after a number: `<= 4 raw_commit`, or `>= 2 per raw_commit` for a rate.
public enum Yardstick: String, Codable, CodingKeyRepresentable, Sendable, CaseIterable {
    /// Replaces one of 10,000 rows of 48 bytes and commits with LMDB itself, without a flush, in the memory file
    /// system.
    case rawCommit = "raw_commit"
    /// A thread wakes another thread, which wakes it in turn.
    case twoWakes = "two_wakes"
    /// 1,000 dependent loads over 4 MiB: each address comes from the load before.
    case memoryWalk = "memory_walk"
}

/// Readings of a yardstick before and after the figures that are compared with it.
public struct YardstickReading: Codable, Sendable, Equatable {
    /// Highest ratio of the larger to the smaller reading that counts as steady.
    public static let steadyRatio = 1.5

    public private(set) var beforeNs: Double?
    public private(set) var afterNs: Double?
    /// Whether both readings agree; nil if one is missing.
    public private(set) var isSteady: Bool?
    /// Error of a reading that failed.
    public private(set) var failure: String?

    /// Takes the first reading.
    /// - Parameter readNs: measures the yardstick.
    public init(_ readNs: () throws -> Double) { beforeNs = take(readNs) }

    /// Takes the second reading.
    public mutating func end(_ readNs: () throws -> Double) {
        afterNs = take(readNs)
        guard let beforeNs, let afterNs else { return }
        isSteady = Self.isSame(beforeNs, afterNs)
    }

    private mutating func take(_ readNs: () throws -> Double) -> Double? {
        do {
            return try readNs()
        } catch {
            failure = failure ?? "\(error)"
            return nil
        }
    }

    /// Returns whether two readings differ by at most `steadyRatio`.
    public static func isSame(_ oneNs: Double, _ otherNs: Double) -> Bool {
        max(oneNs, otherNs) <= steadyRatio * min(oneNs, otherNs)
    }

    /// Mean of both readings, or nil unless they are steady.
    public var meanNs: Double? {
        guard isSteady == true, let beforeNs, let afterNs else { return nil }
        return (beforeNs + afterNs) / 2
    }

    /// Reason why the yardstick cannot be used, to follow its name, or nil if it can.
    public var obstacle: String? {
        if let failure { return "could not be taken: \(failure)" }
        guard let isSteady else { return "was not taken twice" }
        if isSteady { return nil }
        let ends = "from \(Self.text(beforeNs)) to \(Self.text(afterNs))"
        guard let beforeNs, let afterNs, min(beforeNs, afterNs) > 0 else { return "changed \(ends) during the run" }
        let factor = Humanised.text(max(beforeNs, afterNs) / min(beforeNs, afterNs), unit: "1", digits: 2)
        return "changed by \(factor)× during the run, \(ends)"
    }

    private static func text(_ ns: Double?) -> String { Humanised.text(ns, unit: "ns") }
}
