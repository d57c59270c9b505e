// Bounds of the offset θ between another host's monotonic clock and this one. A ping leaves here at t0 and arrives
// there at t1. Its answer leaves there at t2 and arrives here at t3. Then t2 − t3 ≤ θ ≤ t1 − t0, whatever the transit
// times are. Bounds of several exchanges are combined with a limit on the clocks' relative drift. Pure.
import StillingWellBasis

/// A ping and its answer: two times on each clock, in ns.
public struct ClockExchange: Sendable, Equatable {
    /// Time on this clock.
    public var sentNs: Int64
    /// Time on the other clock.
    public var arrivedNs: Int64
    /// Time on the other clock.
    public var leftNs: Int64
    /// Time on this clock.
    public var returnedNs: Int64

    public init(sentNs: Int64, arrivedNs: Int64, leftNs: Int64, returnedNs: Int64) {
        (self.sentNs, self.arrivedNs, self.leftNs, self.returnedNs) = (sentNs, arrivedNs, leftNs, returnedNs)
    }

    /// Bounds of the offset from this exchange alone. `lowerNs` above `upperNs` is impossible for clocks of equal
    /// speed.
    public var lowerNs: Int64 { leftNs - returnedNs }
    public var upperNs: Int64 { arrivedNs - sentNs }
}

/// Error: no offset explains the exchanges of two clocks within the permitted drift, or the times of one run backwards.
public struct ClockContradiction: Error, CustomStringConvertible, Equatable {
    /// Distance between the bounds, at least 1; 1 if the bounds overlap.
    public var byNs: Int64
    public var mostDriftPPM: Int64

    public var description: String {
        "its clock was set, or drifts by more than \(mostDriftPPM) millionths: the bounds of two exchanges miss one another by "
            + "\(byNs) ns; steady the clocks of both hosts"
    }
}

/// Bounds of θ, the other clock minus this one, at any time on this one.
public struct ClockOffset: Sendable {
    /// Maximum relative drift in ppm: two corrected crystals with 30 ppm each are well within it. A kernel may slew a
    /// clock by 500 ppm, which can cause a contradiction.
    public static let mostDriftPPM: Int64 = 100

    /// Bounds of θ at one time on this clock.
    private struct Bounds {
        var atNs: Int64
        var lowerNs: Int64
        var upperNs: Int64
    }

    private let driftPPM: Int64
    /// Bounds in ascending time, each narrowed by all others.
    private var known: [Bounds] = []

    public init(mostDriftPPM: Int64 = ClockOffset.mostDriftPPM) { driftPPM = mostDriftPPM }

    public var exchanges: Int { known.count }

    /// Returns the maximum change of θ within `ns`, rounded up.
    private func driftNs(_ ns: Int64) -> Int64 {
        let product = ns.multipliedFullWidth(by: driftPPM)
        guard product.high == 0, product.low <= UInt64(Int64.max) - 999_999 else { return .max / 4 }
        return (Int64(product.low) + 999_999) / 1_000_000
    }

    /// Adds an exchange, which must not be older than the previous ones.
    /// - Throws: if no θ explains it together with the others, or if its times run backwards. The others stay
    ///   unchanged.
    public mutating func add(_ exchange: ClockExchange) throws(ClockContradiction) {
        // The time of arrival is unknown on this clock; the bounds hold somewhere between the two local times.
        let middleNs = exchange.sentNs + (exchange.returnedNs - exchange.sentNs) / 2
        let withinNs = driftNs(exchange.returnedNs - middleNs)
        var new = Bounds(
            atNs: middleNs, lowerNs: exchange.lowerNs - withinNs, upperNs: exchange.upperNs + withinNs)
        if let last = known.last {
            precondition(middleNs >= last.atNs, "an exchange is older than the previous one")
            let betweenNs = driftNs(middleNs - last.atNs)
            new.lowerNs = max(new.lowerNs, last.lowerNs - betweenNs)
            new.upperNs = min(new.upperNs, last.upperNs + betweenNs)
        }
        guard new.lowerNs <= new.upperNs, exchange.returnedNs >= exchange.sentNs, exchange.leftNs >= exchange.arrivedNs
        else { throw ClockContradiction(byNs: max(new.lowerNs - new.upperNs, 1), mostDriftPPM: driftPPM) }
        known.append(new)
        narrowBackwards()
    }

    /// Narrows earlier bounds by the last one, back to the first that does not change.
    private mutating func narrowBackwards() {
        for place in known.indices.dropLast().reversed() {
            let later = known[place + 1]
            let betweenNs = driftNs(later.atNs - known[place].atNs)
            let lowerNs = max(known[place].lowerNs, later.lowerNs - betweenNs)
            let upperNs = min(known[place].upperNs, later.upperNs + betweenNs)
            if lowerNs == known[place].lowerNs, upperNs == known[place].upperNs { return }
            known[place].lowerNs = lowerNs
            known[place].upperNs = upperNs
        }
    }

    /// Returns the bounds of θ at a time on this clock, or nil before the first exchange. O(log exchanges).
    public func bounds(atNs: Int64) -> ClosedRange<Int64>? {
        let after = known.partitioningIndex { $0.atNs > atNs }
        let neighbours = known[max(0, after - 1)..<min(known.count, after + 1)]
        guard !neighbours.isEmpty else { return nil }
        var (lowerNs, upperNs) = (Int64.min, Int64.max)
        for one in neighbours {
            let betweenNs = driftNs(abs(atNs - one.atNs))
            lowerNs = max(lowerNs, one.lowerNs - betweenNs)
            upperNs = min(upperNs, one.upperNs + betweenNs)
        }
        return lowerNs...upperNs
    }

    /// Converts a time of the other clock to this clock, with its maximum error (±); nil before the first exchange.
    public func local(_ ns: Int64) -> (ns: Int64, halfWidthNs: Int64)? {
        guard let first = known.first else { return nil }
        var atNs = ns - Self.middle(first.lowerNs...first.upperNs)
        var width: Int64 = 0
        // The first estimate uses θ of the first exchange. Each pass replaces it by θ at the estimated time.
        for _ in 0..<2 {
            guard let bounds = bounds(atNs: atNs) else { return nil }
            atNs = ns - Self.middle(bounds)
            width = bounds.upperBound - bounds.lowerBound
        }
        return (atNs, width / 2 + 1 + driftNs(width))
    }

    /// Converts a time of this clock to the other clock, at the middle of the bounds; nil before the first exchange.
    public func remote(_ atNs: Int64) -> Int64? { bounds(atNs: atNs).map { atNs + Self.middle($0) } }

    private static func middle(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + (range.upperBound - range.lowerBound) / 2
    }
}
