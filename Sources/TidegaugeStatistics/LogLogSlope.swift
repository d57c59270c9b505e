// The exponent β of a power law y = c · xᵝ, from a few points of a sweep: `upkeep_exponent`. Pure.
import Glibc

/// A power law through the points of a sweep.
public struct LogLogSlope: Sendable, Equatable {
    /// β: 0 where y does not depend on x, 1 where it is proportional.
    public var exponent: Double
    /// Points that the exponent rests on.
    public var usedPoints: Int
    /// Points without a logarithm (x or y not above zero), left out. A cost that noise made negative is under what can
    /// be measured; a caller that sees any says so beside the figure.
    public var droppedPoints: Int

    /// Theil–Sen on the logarithms. A sweep has four or five points, each a trial of its own that a busy machine may
    /// spoil; least squares would let one spoilt end point carry the slope, the median of pairwise slopes does not.
    ///
    /// Valid where y is measured well above its noise at every point used: noise floors flatten the small end and
    /// make β look lower than it is.
    /// - Parameters: x and y of each point, in step.
    /// - Returns: `nil` unless two points with different x are left.
    public static func fit(x: [Double], y: [Double]) -> LogLogSlope? {
        precondition(x.count == y.count, "every point needs an x and a y")
        let usable = zip(x, y).filter { $0 > 0 && $1 > 0 }
        guard let slope = TheilSen.slope(x: usable.map { log($0.0) }, y: usable.map { log($0.1) }) else { return nil }
        return LogLogSlope(exponent: slope, usedPoints: usable.count, droppedPoints: x.count - usable.count)
    }
}
