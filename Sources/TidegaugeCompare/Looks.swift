// Looks of the confirming stage, which are tests of the pairs so far, and their shares of α, so that early looks do not
// increase false alarms. Pure.
import TidegaugeStatistics

public struct Looks: Sendable, Equatable {
    /// Numbers of pairs at which to look, ascending. The first look can only give up.
    public let pairs: [Int]
    /// α of all looks at all gates: an upper bound of the probability that the pairs of a binary compared with itself
    /// make a gate red.
    public static let alpha = 0.01
    /// α of each look, together `alpha`.
    private static let spending = [0, 0.001, 0.004, 0.005]

    /// 10, 20, 30 and 40 for a screen of 20 pairs, in proportion for others.
    public init(screenPairs: Int) { pairs = [screenPairs / 2, screenPairs, screenPairs * 3 / 2, screenPairs * 2] }

    public var mostPairs: Int { pairs[pairs.count - 1] }

    public enum Decision: Sendable, Equatable {
        case regressed
        /// The gate gets no more looks: it is under the threshold, or this was the last look.
        case futile
        case goOn
    }

    /// - Parameter family: number of gates that share α (Holm), including this one.
    public func decide(_ effect: PairedEffect, delta: Double, look: Int, family: Int) -> Decision {
        let alpha = Self.spending[look] / Double(max(family, 1))
        if effect.pWorse < alpha, effect.estimate > delta { return .regressed }
        if effect.isUnder(delta) || look == pairs.count - 1 { return .futile }
        return .goOn
    }

    /// α of an unplanned last look after `looks` planned ones: everything that is left. The number of pairs by then
    /// depends on the clock and on noise, neither of which depends on which side is the head. So their signs are fair
    /// under the null hypothesis, and the union bound holds.
    static func rest(behind looks: Int) -> Double { alpha - spending.prefix(looks).reduce(0, +) }

    /// Number of pairs that reach α among `gates` if all have the same sign.
    static func fewestPairs(gates: Int) -> Int { DetectableEffect(alpha: alpha / Double(max(gates, 1))).fewestPairs }

    /// Returns why the two stages can never lead to a red result with this number of pairs, or nil if they can.
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

/// The first stage, which selects gates for confirmation.
public enum Screen {
    public static let alpha = 0.05

    public static func isHit(_ effect: PairedEffect, delta: Double) -> Bool {
        effect.pWorse < alpha && !effect.isUnder(delta)
    }

    /// Returns whether the effect is worth confirming in a budget: a hit or, with too few pairs for one, an effect
    /// above the threshold with equal signs. Any rule is valid, because fresh pairs decide.
    static func isCandidate(_ effect: PairedEffect, delta: Double) -> Bool {
        if isHit(effect, delta: delta) { return true }
        let smallest = SignedRank.smallestP(pairs: effect.pairs)
        return smallest >= alpha && effect.pWorse <= smallest && effect.estimate > delta
    }
}
