// When a confirming stage is looked at, and what each look may spend of α: so that looking early does not make false alarms
// more likely. Pure.
import TidegaugeStatistics

public struct Looks: Sendable, Equatable {
    /// Pairs at which to look, ascending; the first only to give up.
    public let pairs: [Int]
    /// Of all looks at all gates together: the chance that a comparison of a binary with itself is red.
    public static let alpha = 0.01
    /// What each may spend, in all α. A union bound: simple, and nearly nothing is lost by it at three looks.
    private static let spending = [0, 0.001, 0.004, 0.005]

    /// 10, 20, 30 and 40 for a screen of 20 pairs; in proportion for others.
    public init(screenPairs: Int) { pairs = [screenPairs / 2, screenPairs, screenPairs * 3 / 2, screenPairs * 2] }

    public var mostPairs: Int { pairs[pairs.count - 1] }

    public enum Decision: Sendable, Equatable {
        case regressed
        /// It will not become red any more.
        case futile
        case goOn
    }

    /// - Parameters:
    ///   - family: gates under confirmation that are not red yet, this one included; α is shared among them (Holm).
    public func decide(_ effect: PairedEffect, delta: Double, look: Int, family: Int) -> Decision {
        let alpha = Self.spending[look] / Double(max(family, 1))
        if effect.pWorse < alpha, effect.estimate > delta { return .regressed }
        if effect.isUnder(delta) || look == pairs.count - 1 { return .futile }
        return .goOn
    }

    /// What an unplanned last look may spend, behind `looks` planned ones: all that they left. How many pairs there are by
    /// then, the clock and the machine's noise decide; both are the same whichever side of a pair is the head, so given any
    /// number of pairs their signs are fair coins under the null, and the union bound holds.
    static func rest(behind looks: Int) -> Double { alpha - spending.prefix(looks).reduce(0, +) }

    /// Pairs that reach α among `gates`, where all say the same.
    static func fewestPairs(gates: Int) -> Int { DetectableEffect(alpha: alpha / Double(max(gates, 1))).fewestPairs }

    /// Why no comparison of so few pairs can ever be red; nil where one can.
    public static func obstacle(screenPairs: Int, gates: Int) -> String? {
        if canShow(screenPairs, gates) { return nil }
        let needed = (screenPairs...10_000).first { canShow($0, gates) } ?? 10_000
        return "\(screenPairs) pairs cannot show anything among \(gates) gates, however clear it is: "
            + "ask for \(needed) or more"
    }

    private static func canShow(_ screenPairs: Int, _ gates: Int) -> Bool {
        SignedRank.smallestP(pairs: screenPairs) < Screen.alpha
            && zip(Looks(screenPairs: screenPairs).pairs, spending).contains { pairs, alpha in
                SignedRank.smallestP(pairs: pairs) < alpha / Double(max(gates, 1))
            }
    }
}

/// The first stage: who is to be looked at again.
public enum Screen {
    public static let alpha = 0.05

    public static func isHit(_ effect: PairedEffect, delta: Double) -> Bool {
        effect.pWorse < alpha && !effect.isUnder(delta)
    }

    /// Worth a place in a confirmation that few can have: a hit, or, of pairs too few for one, that all say the same. Who is
    /// confirmed may be chosen by any rule; fresh pairs decide.
    static func isCandidate(_ effect: PairedEffect, delta: Double) -> Bool {
        if isHit(effect, delta: delta) { return true }
        let smallest = SignedRank.smallestP(pairs: effect.pairs)
        return smallest >= alpha && effect.pWorse <= smallest && effect.estimate > delta
    }
}
