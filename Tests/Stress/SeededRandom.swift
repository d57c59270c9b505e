// Random numbers of one actor (a writer, a connection, the one who churns tokens), derived from the run's seed and the
// actor's name: what one actor draws does not depend on how often another one did.

/// SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014).
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64, actor: String) {
        // FNV-1a over the name: Swift's own hashes differ from process to process.
        state = actor.utf8.reduce(0xcbf2_9ce4_8422_2325 ^ seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        _ = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    mutating func from(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    mutating func oneIn(_ n: Int) -> Bool { below(n) == 0 }
    mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }
}
