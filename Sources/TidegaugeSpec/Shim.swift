// A flaw put between harness and engine on purpose, to see whether a comparison sees it: what `calibrate` measures its
// power with. No scenario names it. Plain values.

/// What a shim does at each commit, or at each delivery.
public struct Shim: Codable, Sendable, Equatable {
    /// Each commit costs so much more CPU, as a share of its own. 0 costs what the shim itself does: the fair other side.
    public var spinShare: Double = 0
    /// Commits wait so much longer, as a share of their own time, and use no CPU for it: what clocks see and counts do not. nil:
    /// they do not wait. A sleep ends late, which is made up for by sleeping less: commits of a millisecond sleep
    /// each, by about that share, and every statistic of theirs moves; of shorter ones, one in several sleeps for the others as
    /// well, and it is their mean and their rate that move, not their median.
    public var waitShare: Double?
    /// One commit in so many takes `tailNs` longer; 0: none.
    public var tailEvery = 0
    public var tailNs: Int64 = 0
    /// One callback in so many lasts `lingerNs` longer, so that the engine has to merge what comes meanwhile; 0: none.
    public var lingerEvery = 0
    public var lingerNs: Int64 = 0
}

extension Shim: CustomStringConvertible {
    /// Reads `spin=5%`, `wait=10%`, `tail=100:5ms`, `linger=2:3ms`, or `none`; nil where it is none of them.
    public init?(_ text: String) {
        self.init()
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        if parts == ["none"] { return }
        guard parts.count == 2 else { return nil }
        if parts[1].hasSuffix("%") {
            guard let percent = Double(parts[1].dropLast()), percent >= 0, percent.isFinite else { return nil }
            switch parts[0] {
            case "spin": spinShare = percent / 100
            case "wait": waitShare = percent / 100
            default: return nil
            }
            return
        }
        let words = parts[1].split(separator: ":").map(String.init)
        guard words.count == 2, let every = Int(words[0]), every > 0, let lengthNs = try? Quantity.durationNs(words[1])
        else { return nil }
        switch parts[0] {
        case "tail": (tailEvery, tailNs) = (every, lengthNs)
        case "linger": (lingerEvery, lingerNs) = (every, lengthNs)
        default: return nil
        }
    }

    public var description: String {
        if spinShare > 0 { return "spin=\(Quantity.text(spinShare * 100))%" }
        if let waitShare { return "wait=\(Quantity.text(waitShare * 100))%" }
        if tailEvery > 0 { return "tail=\(tailEvery):\(tailNs)ns" }
        if lingerEvery > 0 { return "linger=\(lingerEvery):\(lingerNs)ns" }
        return "none"
    }
}
