// Which of a writer's rows a change concerns: evenly, by Zipf's law over a random order of the rows, a hot share of them,
// or the latest first. The rows come and go while it draws, so nothing here is a table. A value: one thread each.
import Glibc
import TidegaugeSpec

/// Draws positions among rows that stand in the order in which they were added.
struct KeyChoice: Sendable {
    private enum Distribution {
        case uniform
        case zipf(Zipf)
        /// From the row added last backwards.
        case latest(Zipf)
        /// The first so many rows in a million get so large a share.
        case hot(rows: Double, changes: Double)
    }

    private let distribution: Distribution

    init(_ spec: WritersSpec) {
        distribution =
            switch spec.keys {
            case .uniform, .matching: .uniform
            case .zipf: .zipf(Zipf(exponent: spec.zipfExponent))
            case .latest: .latest(Zipf(exponent: spec.zipfExponent))
            case .hot: .hot(rows: spec.hotKeys, changes: spec.hotCommits)
            }
    }

    /// Whether the order in which rows were added has to be kept when one goes.
    var keepsOrder: Bool { if case .latest = distribution { true } else { false } }

    /// Whether rows have to stand in a random order: ranks must say nothing about keys.
    var wantsShuffle: Bool {
        switch distribution {
        case .zipf, .hot: true
        case .uniform, .latest: false
        }
    }

    /// A position below `count`, which is not 0.
    func draw(_ count: Int, _ random: inout RandomSource) -> Int {
        switch distribution {
        case .uniform: return random.below(count)
        case .zipf(let zipf): return zipf.draw(count, &random)
        case .latest(let zipf): return count - 1 - zipf.draw(count, &random)
        case .hot(let rows, let changes):
            let hot = min(count, max(1, Int(rows * Double(count))))
            if hot == count || random.unit() < changes { return random.below(hot) }
            return hot + random.below(count - hot)
        }
    }
}

/// Ranks 0 ..< n with probabilities in proportion to 1 / (rank + 1)^exponent, in constant time whatever n: rejection
/// from the integral of that density (Hörmann & Derflinger, "Rejection-inversion to generate variates from monotone
/// discrete distributions", ACM TOMACS 6, 1996). More than nine draws of ten are kept.
struct Zipf: Sendable {
    let exponent: Double

    func draw(_ count: Int, _ random: inout RandomSource) -> Int {
        let highest = integral(Double(count) + 0.5)
        // The first rank has its whole weight, not that of the integral from one half.
        let lowest = integral(1.5) - 1
        while true {
            let area = highest + random.unit() * (lowest - highest)
            let x = inverse(area)
            let rank = min(max(x.rounded(), 1), Double(count))
            if rank - x <= squeeze || area >= integral(rank + 0.5) - density(rank) { return Int(rank) - 1 }
        }
    }

    /// Ranks so near to the drawn point are kept without a look at the density.
    private var squeeze: Double { 2 - inverse(integral(2.5) - density(2)) }

    private func density(_ x: Double) -> Double { exp(-exponent * log(x)) }

    /// Of the density, up to a constant; the logarithm where the exponent is 1.
    private func integral(_ x: Double) -> Double {
        let logX = log(x)
        return Self.growth((1 - exponent) * logX) * logX
    }

    private func inverse(_ area: Double) -> Double {
        let t = max(area * (1 - exponent), -1)
        return exp(Self.shrink(t) * area)
    }

    /// (eˣ - 1) / x, which is 1 at 0.
    private static func growth(_ x: Double) -> Double { abs(x) > 1e-8 ? expm1(x) / x : 1 + x / 2 }

    /// log(1 + x) / x, which is 1 at 0.
    private static func shrink(_ x: Double) -> Double { abs(x) > 1e-8 ? log1p(x) / x : 1 - x / 2 }
}
