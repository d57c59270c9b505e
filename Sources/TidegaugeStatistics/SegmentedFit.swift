// Fits two connected lines to the logarithms of a sweep's points. `knee_rate` is the rate above which commits per
// callback follow another power law. Pure.
import Glibc

/// Two power laws that meet in one point.
public struct SegmentedFit: Sendable, Equatable {
    /// x where the two laws meet.
    public var knee: Double
    /// Exponent below the knee; `upperExponent` is that above it.
    public var lowerExponent: Double
    public var upperExponent: Double

    /// Minimum share of a single line's residual that the second piece must explain. On noise, two more parameters
    /// explain about 2 / (n - 2) of it; from seven points on, nine tenths require a real bend.
    private static let leastExplained = 0.9
    /// Minimum difference of the exponents.
    private static let leastBend = 0.25
    private static let stepsPerGap = 50

    /// Fits a hinge by least squares on the logarithms (V. Muggeo, "Estimating regression models with unknown
    /// break-points", Statistics in Medicine 22, 2003, here by exhaustive search). Tries many knees between the
    /// second and the last but one point, and takes the one with the smallest residual.
    /// - Parameters: x and y of each point, in the same order. Points without a logarithm are left out.
    /// - Returns: nil for fewer than five different x, and if there is no knee: one line fits nearly as well, or the
    ///   exponents hardly differ.
    public static func fit(x: [Double], y: [Double]) -> SegmentedFit? {
        precondition(x.count == y.count, "every point needs an x and a y")
        let points = zip(x, y).filter { $0 > 0 && $1 > 0 }.map { (x: log($0.0), y: log($0.1)) }.sorted { $0.x < $1.x }
        let places = points.map(\.x).reduce(into: [Double]()) { if $0.last != $1 { $0.append($1) } }
        guard places.count >= 5 else { return nil }
        let line = residual(points, hinge: nil)
        var best: (knee: Double, fit: Piecewise)?
        for (left, right) in zip(places.dropFirst(), places.dropFirst(2).dropLast()) {
            for step in 0...stepsPerGap {
                let knee = left + (right - left) * Double(step) / Double(stepsPerGap)
                let fit = residual(points, hinge: knee)
                if fit.squares < best?.fit.squares ?? .infinity { best = (knee, fit) }
            }
        }
        guard let best, line.squares > 1e-12, 1 - best.fit.squares / line.squares >= leastExplained,
            abs(best.fit.bend) >= leastBend
        else { return nil }
        let (slope, bend) = (best.fit.slope, best.fit.bend)
        return SegmentedFit(knee: exp(best.knee), lowerExponent: slope, upperExponent: slope + bend)
    }

    private struct Piecewise {
        var slope: Double
        var bend: Double
        var squares: Double
    }

    /// Fits y = a + slope · x + bend · max(0, x - hinge) by the normal equations of the centred columns.
    private static func residual(_ points: [(x: Double, y: Double)], hinge: Double?) -> Piecewise {
        let n = Double(points.count)
        let meanX = points.reduce(0) { $0 + $1.x } / n
        let meanY = points.reduce(0) { $0 + $1.y } / n
        func above(_ x: Double) -> Double { hinge.map { max(0, x - $0) } ?? 0 }
        let meanAbove = points.reduce(0) { $0 + above($1.x) } / n
        var (xx, xa, aa, xy, ay) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for point in points {
            let (dx, da, dy) = (point.x - meanX, above(point.x) - meanAbove, point.y - meanY)
            xx += dx * dx
            xa += dx * da
            aa += da * da
            xy += dx * dy
            ay += da * dy
        }
        let determinant = xx * aa - xa * xa
        let bend = hinge != nil && determinant > 1e-12 * xx * max(aa, 1e-300) ? (xx * ay - xa * xy) / determinant : 0
        let slope = xx > 0 ? (xy - bend * xa) / xx : 0
        let squares = points.reduce(0.0) { sum, point in
            let error = point.y - meanY - slope * (point.x - meanX) - bend * (above(point.x) - meanAbove)
            return sum + error * error
        }
        return Piecewise(slope: slope, bend: bend, squares: squares)
    }
}
