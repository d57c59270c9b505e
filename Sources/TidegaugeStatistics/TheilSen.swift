// A robust line through points. H. Theil 1950; P. K. Sen, "Estimates of the regression coefficient based on Kendall's
// tau", 1968. Tolerates up to 29 % outliers. Pure.

/// y = intercept + slope · x.
public struct Line: Sendable, Equatable {
    public var slope: Double
    public var intercept: Double
}

public enum TheilSen {
    /// Returns the line with the median slope over all pairs of points with different x, and the median residual as
    /// intercept. Returns nil unless there are two different x. O(n² log n).
    /// - Parameters: x and y of each point, in the same order.
    public static func fit(x: [Double], y: [Double]) -> Line? {
        precondition(x.count == y.count, "every point needs an x and a y")
        var slopes: [Double] = []
        for i in x.indices {
            for j in x.indices[(i + 1)...] where x[i] != x[j] { slopes.append((y[j] - y[i]) / (x[j] - x[i])) }
        }
        guard let slope = median(slopes), let intercept = median(zip(x, y).map { $1 - slope * $0 }) else { return nil }
        return Line(slope: slope, intercept: intercept)
    }

    /// Returns only the slope.
    public static func slope(x: [Double], y: [Double]) -> Double? { fit(x: x, y: y)?.slope }
}
