// Order statistics of samples, which must be finite. Pure.

/// Returns the middle of `values`, or the mean of the two middle ones; `nil` if empty. O(n log n).
public func median(_ values: some Sequence<Double>) -> Double? {
    let sorted = values.sorted()
    precondition(!sorted.contains(where: \.isNaN), "a sample that is not a number has no rank")
    guard !sorted.isEmpty else { return nil }
    let middle = sorted.count / 2
    // Halved before they are added, so that huge samples cannot overflow to infinity.
    return sorted.count.isMultiple(of: 2) ? sorted[middle - 1] / 2 + sorted[middle] / 2 : sorted[middle]
}

/// Returns the mean, or `nil` if empty.
public func mean(_ values: some Collection<Double>) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
}

/// Returns 1.4826 × the median distance from the median, or `nil` if empty. It estimates the standard deviation of
/// normal samples and tolerates fewer than half of them as outliers. (Hampel 1974; 1.4826 = 1/Φ⁻¹(3/4).)
public func medianAbsoluteDeviation(_ values: some Sequence<Double>) -> Double? {
    let all = Array(values)
    guard let center = median(all) else { return nil }
    return median(all.map { abs($0 - center) }).map { 1.4826 * $0 }
}
