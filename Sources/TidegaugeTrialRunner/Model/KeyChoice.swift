// Chooses which of a writer's rows a change affects: uniform, by Zipf's law over a random order, a hot share, or the
// latest first. Rows come and go between draws, so there is no precomputed table. A value for one thread.
import Glibc
import TidegaugeSpec

/// Draws positions in a writer's list of rows.
struct KeyChoice: Sendable {
    private enum Distribution {
        case uniform
        case zipf(Zipf)
        /// Backwards from the row added last.
        case latest(Zipf)
        /// The first `rows` share of the rows receives the share `changes` of the changes.
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

    /// Whether removing a row must keep the order of the others.
    var keepsOrder: Bool { if case .latest = distribution { true } else { false } }

    /// Whether rows must be in random order, so that ranks do not depend on keys.
    var wantsShuffle: Bool {
        switch distribution {
        case .zipf, .hot: true
        case .uniform, .latest: false
        }
    }

    /// Returns a position less than `count`, which must not be 0.
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

/// Draws ranks 0 ..< n with probabilities proportional to 1 / (rank + 1)^exponent, in constant expected time for any n.
/// It uses rejection from the integral of that density (Hörmann & Derflinger, "Rejection-inversion to generate variates
/// from monotone discrete distributions", ACM TOMACS 6, 1996).
struct Zipf: Sendable {
    let exponent: Double

    func draw(_ count: Int, _ random: inout RandomSource) -> Int {
        let highest = integral(Double(count) + 0.5)
        // The first rank has its whole weight instead of the integral from 0.5.
        let lowest = integral(1.5) - 1
        while true {
            let area = highest + random.unit() * (lowest - highest)
            let x = inverse(area)
            let rank = min(max(x.rounded(), 1), Double(count))
            if rank - x <= squeeze || area >= integral(rank + 0.5) - density(rank) { return Int(rank) - 1 }
        }
    }

    /// A rank this close to the drawn point is accepted without evaluating the density.
    private var squeeze: Double { 2 - inverse(integral(2.5) - density(2)) }

    private func density(_ x: Double) -> Double { exp(-exponent * log(x)) }

    /// Integral of the density up to a constant; the logarithm if the exponent is 1.
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
