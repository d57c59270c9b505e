// The harness's own random numbers. The bits of `next` are the same on every platform and toolchain. SplitMix64 expands
// a seed; xoshiro256++ generates (Blackman & Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47,
// 2021).
import Glibc
import TidegaugeStatistics

struct RandomSource: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    /// - Parameter stream: sources of one seed with different streams are independent (a writer's arrivals, its keys,
    ///   …).
    init(seed: UInt64, stream: UInt64) {
        var first = SplitMix64(seed: seed)
        var spread = SplitMix64(seed: first.next() ^ (stream &* 0xD605_BBB5_8C8A_BBC9))
        state = (spread.next(), spread.next(), spread.next(), spread.next())
    }

    mutating func next() -> UInt64 {
        let result = Self.rotate(state.0 &+ state.3, 23) &+ state.0
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = Self.rotate(state.3, 45)
        return result
    }

    /// Uniform in 0 ..< bound, by multiply-shift; the remaining bias is less than bound / 2⁶⁴.
    mutating func below(_ bound: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(bound)).high) }

    /// Uniform in [0, 1), 53 bits.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Exponential with mean 1, by inversion.
    mutating func exponential() -> Double { -log(1 - unit()) }

    private static func rotate(_ x: UInt64, _ k: UInt64) -> UInt64 { (x << k) | (x >> (64 - k)) }
}
