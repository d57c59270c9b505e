// The exponent β of a power law y = c · xᵝ, from a few points of a sweep. Pure.
import Glibc

/// A power law through the points of a sweep.
public struct LogLogSlope: Sendable, Equatable {
    /// β: 0 where y does not depend on x, 1 where it is proportional.
    public var exponent: Double
    /// Number of points used for the exponent.
    public var usedPoints: Int
    /// Number of points without a logarithm (x or y not above 0), which were left out. Noise can make a small cost
    /// negative.
    public var droppedPoints: Int

    /// Fits by Theil–Sen on the logarithms. A sweep has few points, and a busy machine may spoil one. One spoilt end
    /// point would change a least-squares slope much more than the median of pairwise slopes.
    ///
    /// Valid if y is well above its noise at every point: a noise floor flattens the small end and lowers β.
    /// - Parameters: x and y of each point, in the same order.
    /// - Returns: `nil` unless two points with different x remain.
    public static func fit(x: [Double], y: [Double]) -> LogLogSlope? {
        precondition(x.count == y.count, "every point needs an x and a y")
        let usable = zip(x, y).filter { $0 > 0 && $1 > 0 }
        guard let slope = TheilSen.slope(x: usable.map { log($0.0) }, y: usable.map { log($0.1) }) else { return nil }
        return LogLogSlope(exponent: slope, usedPoints: usable.count, droppedPoints: x.count - usable.count)
    }
}
