// What this machine needs for something that every store does as well, taken in the same run and minute: a limit in multiples
// of one holds on a slow machine as on a fast one.

/// Names as limits have them, behind a number: `<= 4 raw_commit`, or `>= 2 per raw_commit` of a rate.
public enum Yardstick: String, Codable, CodingKeyRepresentable, Sendable, CaseIterable {
    /// One row of 48 bytes put into 10 000 others and committed by LMDB itself, without a flush, in the memory file system.
    case rawCommit = "raw_commit"
    /// One thread wakes another, which wakes it in turn.
    case twoWakes = "two_wakes"
    /// A thousand loads, each from where the one before says, over 4 MiB.
    case memoryWalk = "memory_walk"
}

/// A yardstick before and after what is held against it.
public struct YardstickReading: Codable, Sendable, Equatable {
    /// The larger may be so much more than the smaller.
    public static let steadyRatio = 1.5

    public private(set) var beforeNs: Double?
    public private(set) var afterNs: Double?
    /// Whether the machine was the same for it all the time; nil where it was not taken twice.
    public private(set) var isSteady: Bool?
    /// Why one of the two is missing.
    public private(set) var failure: String?

    /// The first of the two.
    /// - Parameter readNs: takes it.
    public init(_ readNs: () throws -> Double) { beforeNs = take(readNs) }

    /// The second.
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

    /// Whether two readings are of one machine in one state.
    public static func isSame(_ oneNs: Double, _ otherNs: Double) -> Bool {
        max(oneNs, otherNs) <= steadyRatio * min(oneNs, otherNs)
    }

    /// What figures are held against; nil where it was not steady.
    public var meanNs: Double? {
        guard isSteady == true, let beforeNs, let afterNs else { return nil }
        return (beforeNs + afterNs) / 2
    }

    /// Why nothing can be held against it, behind its name; nil where something can.
    public var obstacle: String? {
        if let failure { return "could not be taken: \(failure)" }
        guard let isSteady else { return "was not taken twice" }
        return isSteady ? nil : "took \(Self.text(beforeNs)) before and \(Self.text(afterNs)) after"
    }

    private static func text(_ ns: Double?) -> String { Humanised.text(ns, unit: "ns") }
}
