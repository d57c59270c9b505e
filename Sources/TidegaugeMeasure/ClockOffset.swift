// By how much the monotonic clock of another host is ahead of this one's: never known, but bounded. A message that leaves here at t0
// and arrives there at t1, and its answer that leaves there at t2 and returns here at t3, show that the difference θ lies in
// t2 − t3 ≤ θ ≤ t1 − t0, whatever the way took in either direction. Bounds of several exchanges hold together as far as the
// difference cannot have changed between them: clocks drift apart by so many millionths at most. Pure.
import StillingWellBasis

/// A ping and its answer: two moments of either clock, in ns.
public struct ClockExchange: Sendable, Equatable {
    /// Here.
    public var sentNs: Int64
    /// There.
    public var arrivedNs: Int64
    /// There.
    public var leftNs: Int64
    /// Here.
    public var returnedNs: Int64

    public init(sentNs: Int64, arrivedNs: Int64, leftNs: Int64, returnedNs: Int64) {
        (self.sentNs, self.arrivedNs, self.leftNs, self.returnedNs) = (sentNs, arrivedNs, leftNs, returnedNs)
    }

    /// What it shows by itself, where the difference stood still meanwhile. Empty bounds (lower above upper) are none of two
    /// clocks that run forward.
    public var lowerNs: Int64 { leftNs - returnedNs }
    public var upperNs: Int64 { arrivedNs - sentNs }
}

/// Exchanges that no difference of two clocks explains.
public struct ClockContradiction: Error, CustomStringConvertible, Equatable {
    /// So far the bounds miss one another.
    public var byNs: Int64
    public var mostDriftPPM: Int64

    public var description: String {
        "its clock was set, or drifts by more than \(mostDriftPPM) millionths: the bounds of two exchanges miss one another by "
            + "\(byNs) ns; steady the clocks of both hosts"
    }
}

/// What exchanges show of θ, the other clock less this one's, at any moment of this one's.
public struct ClockOffset: Sendable {
    /// Two crystals, each 30 millionths off, with their correction; servers stay far below it. A kernel may slew a clock by 500: that
    /// shows as a contradiction, and is no figure.
    public static let mostDriftPPM: Int64 = 100

    /// Of one moment here.
    private struct Bounds {
        var atNs: Int64
        var lowerNs: Int64
        var upperNs: Int64
    }

    private let driftPPM: Int64
    /// Ascending in time, and each as narrow as all others make it.
    private var known: [Bounds] = []

    public init(mostDriftPPM: Int64 = ClockOffset.mostDriftPPM) { driftPPM = mostDriftPPM }

    public var exchanges: Int { known.count }

    /// The most that θ changes within `ns`, rounded up.
    private func driftNs(_ ns: Int64) -> Int64 {
        let product = ns.multipliedFullWidth(by: driftPPM)
        guard product.high == 0, product.low <= UInt64(Int64.max) - 999_999 else { return .max / 4 }
        return (Int64(product.low) + 999_999) / 1_000_000
    }

    /// Learns from one more exchange, which is not older than those before. Amortised O(1) where exchanges are regular.
    /// - Throws: where no θ explains it beside the others, which stay as they are.
    public mutating func add(_ exchange: ClockExchange) throws(ClockContradiction) {
        // When it was there nobody knows; the bounds hold somewhere between its two moments here.
        let middleNs = exchange.sentNs + (exchange.returnedNs - exchange.sentNs) / 2
        let withinNs = driftNs(exchange.returnedNs - middleNs)
        var new = Bounds(
            atNs: middleNs, lowerNs: exchange.lowerNs - withinNs, upperNs: exchange.upperNs + withinNs)
        if let last = known.last {
            precondition(middleNs >= last.atNs, "an exchange that is older than the one before")
            let betweenNs = driftNs(middleNs - last.atNs)
            new.lowerNs = max(new.lowerNs, last.lowerNs - betweenNs)
            new.upperNs = min(new.upperNs, last.upperNs + betweenNs)
        }
        guard new.lowerNs <= new.upperNs, exchange.returnedNs >= exchange.sentNs, exchange.leftNs >= exchange.arrivedNs
        else { throw ClockContradiction(byNs: max(new.lowerNs - new.upperNs, 1), mostDriftPPM: driftPPM) }
        known.append(new)
        narrowBackwards()
    }

    /// Tells those before what the last one shows of them, as far as that is news.
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

    /// Between what θ lies at a moment of this clock; nil before the first exchange. O(log exchanges).
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

    /// The moment here at which the other clock shows `ns`, and by how much it may be wrong either way; nil before the first exchange.
    public func local(_ ns: Int64) -> (ns: Int64, halfWidthNs: Int64)? {
        guard let first = known.first else { return nil }
        var atNs = ns - Self.middle(first.lowerNs...first.upperNs)
        var width: Int64 = 0
        // A first guess is wrong by what θ has changed since; that changes the second by its drift, and so by nearly nothing.
        for _ in 0..<2 {
            guard let bounds = bounds(atNs: atNs) else { return nil }
            atNs = ns - Self.middle(bounds)
            width = bounds.upperBound - bounds.lowerBound
        }
        return (atNs, width / 2 + 1 + driftNs(width))
    }

    /// What the other clock shows at a moment here, in the middle of what is possible; nil before the first exchange.
    public func remote(_ atNs: Int64) -> Int64? { bounds(atNs: atNs).map { atNs + Self.middle($0) } }

    private static func middle(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + (range.upperBound - range.lowerBound) / 2
    }
}
