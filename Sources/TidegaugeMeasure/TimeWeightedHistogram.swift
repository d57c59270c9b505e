// A distribution over time: how long a quantity had each value. Linear growth is added exactly, without sampling. A
// plain value, used after the load.
import TidegaugeSpec

/// Time (ns) by value, in the HDR layout of three significant digits: one bucket per value below 2,048, then 1,024
/// buckets per power of two.
public struct TimeWeightedHistogram: Sendable {
    /// Time in each bucket from constant spans and from the ends of ramps.
    private var weights: [UInt64] = []
    /// Differences between adjacent buckets of the number of ramps that cross them entirely. A ramp of any length
    /// needs only two changes.
    private var rampDeltas: [Int64] = []
    private var weightedSum = 0.0
    private var minimum = Int64.max
    private var maximum: Int64 = 0

    /// Total recorded time in ns.
    public private(set) var totalNs: Int64 = 0
    /// Number of events (commits) behind the distribution, because time has no samples. A percentile needs ten of them
    /// beyond it.
    public private(set) var sampleCount = 0

    public init() {}

    /// Adds `count` to the number of events.
    public mutating func addSamples(_ count: Int) { sampleCount += count }

    /// Adds `weightNs` of time at `value` ≥ 0.
    public mutating func record(_ value: Int64, weightNs: Int64) {
        precondition(value >= 0 && weightNs >= 0, "neither a value nor a time can be negative")
        guard weightNs > 0 else { return }
        add(UInt64(weightNs), to: Self.bucket(of: value))
        weightedSum += Double(value) * Double(weightNs)
        account(from: value, through: value, ns: weightNs)
    }

    /// Adds a quantity that grew by 1 ns per ns from `from` to `to`, with each ns at its own value.
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

    /// Adds all time and events of `other`.
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

// Reading. Iterates over all buckets, so it is for after the load.
extension TimeWeightedHistogram {
    public var min: Int64? { totalNs > 0 ? minimum : nil }
    public var max: Int64? { totalNs > 0 ? maximum : nil }
    /// Mean over time, independent of the buckets.
    public var mean: Double? { totalNs > 0 ? weightedSum / Double(totalNs) : nil }

    /// Returns the value that the quantity did not exceed for the share p of the time, for any number of samples. It is
    /// less than 0.1 % above the true value. `nil` if empty or if `statistic` is not a percentile.
    public func percentile(_ statistic: Statistic) -> Int64? {
        guard let denominator = statistic.tailDenominator, totalNs > 0 else { return nil }
        let rank = percentileRank(tailDenominator: denominator, total: UInt64(totalNs))
        return bucketedWeights().value(atRank: rank).map { Swift.min($0, maximum) }
    }

    /// Returns percentiles, min, max, mean and count of events.
    /// - Parameter flags: flags of every figure.
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

// Bucket layout of HdrHistogram for three significant digits.
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
