// Location of paired differences: robust like a median and nearly as efficient as a mean (0.955 of it for normal
// samples). J. L. Hodges, E. L. Lehmann, "Estimates of location based on rank tests", 1963. Pure.

public enum HodgesLehmann {
    /// The location of one sample: the median of its n(n+1)/2 Walsh averages (xᵢ + xⱼ)/2, i ≤ j. `nil` when empty.
    /// O(n² log n).
    public static func location(_ values: [Double]) -> Double? { median(walshAverages(values)) }

    /// All (xᵢ + xⱼ)/2 with i ≤ j, unordered.
    public static func walshAverages(_ values: [Double]) -> [Double] {
        values.indices.flatMap { i in values[i...].map { (values[i] + $0) / 2 } }
    }
}
