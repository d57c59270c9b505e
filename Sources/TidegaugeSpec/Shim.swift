// Shims: artificial costs between harness and engine, with which `calibrate` measures the power of a comparison.
// Scenarios cannot name them. Plain values.

/// The cost that a shim adds to commits or callbacks.
public struct Shim: Codable, Sendable, Equatable {
    /// Additional CPU time of each commit, as a share of a typical commit's time. 0: only the shim itself, as control.
    public var spinShare: Double = 0
    /// Additional wait of commits without CPU time, as a share of their own time; nil: none. Clocks see it, counters
    /// do not. Sleeps overrun, so later sleeps are shortened. Waits shorter than about 20 µs are added up, and one of
    /// several commits sleeps for them: their mean and rate move, but not their median.
    public var waitShare: Double?
    /// Every `tailEvery`-th commit takes `tailNs` longer; 0: none.
    public var tailEvery = 0
    public var tailNs: Int64 = 0
    /// Every `lingerEvery`-th callback of an observer takes `lingerNs` longer, so that the engine may coalesce commits;
    /// 0: none.
    public var lingerEvery = 0
    public var lingerNs: Int64 = 0
}

extension Shim: CustomStringConvertible {
    /// Parses `spin=5%`, `wait=10%`, `tail=100:5ms`, `linger=2:3ms` or `none`. Returns nil for anything else.
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
