// A distribution over time: how much of the window a quantity spent at each value. Linear growth goes in exactly, so
// that no sampling grid decides what is seen. A plain value; off the clock.
import TidegaugeSpec

/// Time (ns) by value, in the HDR layout of three significant digits: values under 2 048 have a bucket each, above
/// that 1 024 buckets per power of two, so a bucket is never wider than 1/1 024 of its values.
public struct TimeWeightedHistogram: Sendable {
    /// Time spent in each bucket by constant stretches and by the partly covered ends of ramps.
    private var weights: [UInt64] = []
    /// Differences, from bucket to bucket, of the number of ramps that cross the whole of it: a ramp of any length
    /// costs two changes here instead of one per bucket it crosses.
    private var rampDeltas: [Int64] = []
    private var weightedSum = 0.0
    private var minimum = Int64.max
    private var maximum: Int64 = 0

    /// The whole time recorded, ns.
    public private(set) var totalNs: Int64 = 0
    /// Events (commits) that the distribution rests on: what the ten-samples rule counts, since time is not samples.
    public private(set) var sampleCount = 0

    public init() {}

    /// Notes that the distribution rests on `count` more events.
    public mutating func addSamples(_ count: Int) { sampleCount += count }

    /// `weightNs` of time spent at `value` ≥ 0.
    public mutating func record(_ value: Int64, weightNs: Int64) {
        precondition(value >= 0 && weightNs >= 0, "neither a value nor a time can be negative")
        guard weightNs > 0 else { return }
        add(UInt64(weightNs), to: Self.bucket(of: value))
        weightedSum += Double(value) * Double(weightNs)
        account(from: value, through: value, ns: weightNs)
    }

    /// A quantity that grew by 1 ns per ns from `from` up to `to`, so spent each ns of the range at its own value.
    /// O(1) whatever the length.
    public mutating func recordRamp(from: Int64, to: Int64) {
        precondition(from >= 0, "an age cannot be negative")
        guard to > from else { return }
        let first = Self.bucket(of: from)
        let last = Self.bucket(of: to - 1)
        if first == last {
            add(UInt64(to - from), to: first)
        } else {
            add(UInt64(Self.upperEdge(ofBucket: first) - from + 1), to: first)
            add(UInt64(to - Self.lowerEdge(ofBucket: last)), to: last)
            reserve(bucket: last)
            rampDeltas[first + 1] += 1
            rampDeltas[last] -= 1
        }
        // ∫ v dv over the ramp: its length times the mean of its ends.
        weightedSum += Double(to - from) * (Double(from) + Double(to)) / 2
        account(from: from, through: to, ns: to - from)
    }

    /// Adds all of `other`'s time and samples.
    public mutating func add(_ other: TimeWeightedHistogram) {
        if !other.weights.isEmpty { reserve(bucket: other.weights.count - 1) }
        for index in other.weights.indices {
            weights[index] += other.weights[index]
            rampDeltas[index] += other.rampDeltas[index]
        }
        weightedSum += other.weightedSum
        minimum = Swift.min(minimum, other.minimum)
        maximum = Swift.max(maximum, other.maximum)
        totalNs += other.totalNs
        sampleCount += other.sampleCount
    }

    private mutating func account(from low: Int64, through high: Int64, ns: Int64) {
        minimum = Swift.min(minimum, low)
        maximum = Swift.max(maximum, high)
        totalNs += ns
    }

    private mutating func add(_ weight: UInt64, to bucket: Int) {
        reserve(bucket: bucket)
        weights[bucket] += weight
    }

    private mutating func reserve(bucket: Int) {
        guard bucket >= weights.count else { return }
        let missing = bucket + 1 - weights.count
        weights.append(contentsOf: repeatElement(0, count: missing))
        rampDeltas.append(contentsOf: repeatElement(0, count: missing))
    }
}

// Reading. Walks all buckets: for after the clock has stopped.
extension TimeWeightedHistogram {
    public var min: Int64? { totalNs > 0 ? minimum : nil }
    public var max: Int64? { totalNs > 0 ? maximum : nil }
    /// Mean over time; the integral is taken exactly, not over buckets.
    public var mean: Double? { totalNs > 0 ? weightedSum / Double(totalNs) : nil }

    /// The value that the quantity was at or under for the share p of the time, whatever the number of samples; at
    /// most one bucket (1/1 024 of it) above the true one. `nil` when empty or when `statistic` is no percentile.
    public func percentile(_ statistic: Statistic) -> Int64? {
        guard let denominator = statistic.tailDenominator, totalNs > 0 else { return nil }
        let rank = percentileRank(tailDenominator: denominator, total: UInt64(totalNs))
        return bucketedWeights().value(atRank: rank).map { Swift.min($0, maximum) }
    }

    /// Percentiles, min, max, mean and count, all of events.
    /// - Parameter flags: put on every figure.
    public func figures(for metric: Metric, flags: [FigureFlag] = []) -> [Figure] {
        distributionFigures(
            metric, n: sampleCount, flags: flags,
            rest: [
                (.min, min.map { Double($0) }, false), (.max, max.map { Double($0) }, false), (.mean, mean, false),
                (.count, Double(sampleCount), false),
            ]
        ) { percentile($0).map { (Double($0), false) } }
    }

    func bucketedWeights() -> BucketedWeights {
        var result = BucketedWeights()
        var crossing: Int64 = 0
        for index in weights.indices {
            crossing += rampDeltas[index]
            let width = UInt64(Self.upperEdge(ofBucket: index) - Self.lowerEdge(ofBucket: index) + 1)
            result.append(upperEdge: Self.upperEdge(ofBucket: index), weight: weights[index] + UInt64(crossing) * width)
        }
        return result
    }
}

// The layout: HdrHistogram's for three significant digits.
extension TimeWeightedHistogram {
    private static let halfCountMagnitude = 10

    static func bucket(of value: Int64) -> Int {
        let significantBits = Int64.bitWidth - value.leadingZeroBitCount
        let shift = Swift.max(0, significantBits - halfCountMagnitude - 1)
        return shift << halfCountMagnitude + Int(value >> shift)
    }

    static func lowerEdge(ofBucket index: Int) -> Int64 {
        let shift = Swift.max(0, index >> halfCountMagnitude - 1)
        return Int64(index - shift << halfCountMagnitude) << shift
    }

    static func upperEdge(ofBucket index: Int) -> Int64 {
        let shift = Swift.max(0, index >> halfCountMagnitude - 1)
        return lowerEdge(ofBucket: index) + (1 << shift - 1)
    }
}
