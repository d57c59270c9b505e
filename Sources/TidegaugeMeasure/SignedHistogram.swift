// A histogram of signed values. HdrHistogram has no negative values, so magnitudes of negative samples are in a
// second histogram, created on demand. A plain value.
import Histogram

struct SignedHistogram: Sendable {
    private(set) var positive = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    /// Magnitudes of the negative samples.
    private(set) var negated: Histogram<UInt64>?

    var count: UInt64 { positive.totalCount + (negated?.totalCount ?? 0) }

    mutating func record(_ value: Int64, count: UInt64) {
        if value >= 0 {
            positive.record(UInt64(value), count: count)
        } else {
            if negated == nil { negated = Histogram(numberOfSignificantValueDigits: .three) }
            negated?.record(value.magnitude, count: count)
        }
    }

    mutating func add(_ other: SignedHistogram) {
        positive.add(other.positive)
        if let more = other.negated {
            if negated == nil { negated = Histogram(numberOfSignificantValueDigits: .three) }
            negated?.add(more)
        }
    }

    /// Returns the buckets with samples, ascending. The upper edge of a negative bucket is the one nearer to zero.
    func weights() -> BucketedWeights {
        var weights = BucketedWeights()
        if let negated {
            for bucket in negated.weights().buckets.reversed() {
                let lowest = negated.lowestEquivalentForValue(UInt64(bucket.upperEdge))
                weights.append(upperEdge: -Int64(clamping: lowest), weight: bucket.weight)
            }
        }
        for bucket in positive.weights().buckets { weights.append(upperEdge: bucket.upperEdge, weight: bucket.weight) }
        return weights
    }
}

extension Histogram {
    /// Returns the buckets by public accessors. The library's iterator sums value × count in 64 bits, which overflows
    /// for nanoseconds weighted by nanoseconds.
    func weights() -> BucketedWeights {
        var weights = BucketedWeights()
        guard totalCount > 0 else { return weights }
        var value: UInt64 = 0
        while value <= maxRecorded {
            let upperEdge = highestEquivalentForValue(value)
            weights.append(upperEdge: Int64(clamping: upperEdge), weight: UInt64(countForValue(value)))
            value = upperEdge + 1
        }
        return weights
    }

    /// Returns counts by bucket, ascending, without empty ones, in the layout of `TimeWeightedHistogram`.
    func indexedCounts() -> [(index: Int, count: UInt64)] {
        weights().buckets.map { (TimeWeightedHistogram.bucket(of: $0.upperEdge), $0.weight) }
    }
}
