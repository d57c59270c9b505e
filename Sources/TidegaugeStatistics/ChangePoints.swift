// Finds changes in a series of figures without assumptions on their number or distribution: E-divisive means. D. S.
// Matteson, N. A. James, "A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data", JASA
// 2014; for histories of benchmarks: D. Daly et al., ICPE 2020. Pure apart from the given generator.

/// Finds changes in the distribution of a series.
public struct ChangePoints: Sendable {
    /// A change is significant if its p-value over the shuffles is below this.
    public var significance: Double
    /// Minimum length of a segment.
    public var fewestPoints: Int
    public var shuffles: Int

    public init(significance: Double = 0.001, fewestPoints: Int = 3, shuffles: Int = 1_999) {
        (self.significance, self.fewestPoints, self.shuffles) = (significance, fewestPoints, shuffles)
    }

    /// Returns the index of the first value after each change, ascending. Divides the series at its strongest change,
    /// and repeats until none is significant. O((breaks + 1) · shuffles · n²) for n values.
    public func breaks(_ series: [Double], using random: inout some RandomNumberGenerator) -> [Int] {
        var found: Set<Int> = []
        var waiting = [0..<series.count]
        while let segment = waiting.popLast() {
            let values = Array(series[segment])
            guard let best = strongest(values), isSignificant(best.strength, values, &random) else { continue }
            let place = segment.lowerBound + best.place
            found.insert(place)
            waiting += [segment.lowerBound..<place, place..<segment.upperBound]
        }
        return found.sorted()
    }

    private func isSignificant(
        _ strength: Double, _ values: [Double], _ random: inout some RandomNumberGenerator
    ) -> Bool {
        guard strength > 0 else { return false }
        var asStrong = 0
        var shuffled = values
        for _ in 0..<shuffles {
            shuffled.shuffle(using: &random)
            if let other = strongest(shuffled), other.strength >= strength { asStrong += 1 }
            if Double(asStrong + 1) / Double(shuffles + 1) >= significance { return false }
        }
        return true
    }

    /// Returns the index that divides `values` into the two most different parts, and their scaled energy distance
    /// nm/(n+m) · (2 E|X−Y| − E|X−X'| − E|Y−Y'|). Returns nil for fewer than 2 · `fewestPoints` values.
    func strongest(_ values: [Double]) -> (place: Int, strength: Double)? {
        let count = values.count
        guard count >= 2 * fewestPoints else { return nil }
        // Sums of distances within the left part, within the right part and across, updated value by value.
        var (left, right, across) = (0.0, 0.0, 0.0)
        for i in 0..<count { for j in 0..<i { right += abs(values[i] - values[j]) } }
        var best: (place: Int, strength: Double)?
        for place in 1..<count {
            let moved = values[place - 1]
            let toLeft = values[..<(place - 1)].reduce(0) { $0 + abs($1 - moved) }
            let toRight = values[place...].reduce(0) { $0 + abs($1 - moved) }
            left += toLeft
            right -= toRight
            across += toRight - toLeft
            guard place >= fewestPoints, count - place >= fewestPoints else { continue }
            let (n, m) = (Double(place), Double(count - place))
            let energy = 2 * across / (n * m) - left / (n * (n - 1) / 2) - right / (m * (m - 1) / 2)
            let strength = n * m / (n + m) * energy
            if strength > best?.strength ?? -.infinity { best = (place, strength) }
        }
        return best
    }
}
