import Foundation

/// Seeds of the random tests. A failing case names its seed; `TIDEGAUGE_SEED=<seed>` runs that one alone.
let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["TIDEGAUGE_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? Array(0..<50)

/// A small seeded generator, the same on every platform.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
