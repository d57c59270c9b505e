// Random numbers for property tests. A seed gives the same numbers on every platform.
import Foundation

/// Returns `count` seeds, or only the seed in the environment variable TIDEGAUGE_SEED. A failing test must print its
/// seed.
public func seeds(_ count: Int) -> [UInt64] {
    let one = ProcessInfo.processInfo.environment["TIDEGAUGE_SEED"].flatMap { UInt64($0) }
    return one.map { [$0] } ?? (0..<UInt64(count)).map { $0 }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    /// Makes the numbers of one actor of a run. They do not depend on the draws of other actors.
    public init(seed: UInt64, actor: String) {
        // FNV-1a of the name, because Swift's hashes differ from process to process.
        state = actor.utf8.reduce(0xcbf2_9ce4_8422_2325 ^ seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        _ = next()
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, `bound`.
    public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    public mutating func from(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    public mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }

    /// True once in `n` times on average.
    public mutating func oneIn(_ n: Int) -> Bool { below(n) == 0 }

    /// TIDEGAUGE_SEED, or a new seed. Printed, so that a failing test can be run again.
    public static let base: UInt64 = {
        let given = ProcessInfo.processInfo.environment["TIDEGAUGE_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 1...1_000_000_000)
        print("property tests start at TIDEGAUGE_SEED=\(seed)")
        return seed
    }()
}
