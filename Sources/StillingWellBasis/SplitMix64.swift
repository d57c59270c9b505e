// Reproducible random numbers from a seed. Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014.

/// A seeded generator. A value, which one thread at a time may use.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    /// Increment of the state: 2^64 divided by the golden ratio, rounded down.
    public static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    @usableFromInline var state: UInt64

    @inlinable
    public init(seed: UInt64) { state = seed }

    @inlinable
    public mutating func next() -> UInt64 {
        state &+= Self.step
        return Self.mix(state)
    }

    /// Returns a pseudorandom number, different for each `state`.
    @inlinable
    public static func mix(_ state: UInt64) -> UInt64 {
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
