import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Searching for bytes")
struct ByteSearchTests {
    @Test("finds bytes if and only if a test of each position does", arguments: 0..<4)
    func same(_ round: Int) {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        for _ in 0..<4_000 {
            let letters = 2 + random.below(3)
            func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(97 + random.below(letters)) } }
            let value = bytes(random.below(70))
            let part =
                random.oneIn(3)
                ? Array(value.dropFirst(random.below(70)).prefix(random.below(20))) : bytes(random.below(7))
            let expected =
                part.count <= value.count
                && (0...value.count - part.count).contains { place in
                    Array(value[place..<place + part.count]) == part
                }
            let found = part.withUnsafeBytes { part in
                let search = ByteSearch(part)
                return value.withUnsafeBytes { search.isIn($0) }
            }
            #expect(found == expected, "\(part) in \(value), TIDEGAUGE_SEED=\(seed)")
        }
    }
}
