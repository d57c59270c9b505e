// The random source of property tests: one number decides everything, and a failure names it. TIDEGAUGE_SEED=that number
// runs the failing case first.
import Foundation

/// SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &self)
    }

    /// True once in `n` times.
    mutating func oneIn(_ n: Int) -> Bool {
        below(n) == 0
    }

    /// TIDEGAUGE_SEED, or a new seed, printed.
    static let base: UInt64 = {
        let given = ProcessInfo.processInfo.environment["TIDEGAUGE_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 1...1_000_000_000)
        print("property tests start at TIDEGAUGE_SEED=\(seed)")
        return seed
    }()
}
