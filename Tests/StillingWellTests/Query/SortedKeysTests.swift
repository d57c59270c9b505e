// Tests of the bytes of sort keys, and of sorting many keys without moving them.
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellTree

@Suite struct SortedKeysTests {
    @Test("keys are sorted as by comparing them, those that are equal by their ids", arguments: 0..<120)
    func order(_ round: Int) {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        // Keys of one or several lengths, which differ at four places at most before they are cut.
        let length = 1 + random.below(40)
        let isOneLength = random.oneIn(2)
        let changing = (0..<1 + random.below(4)).map { _ in random.below(length) }
        let common = (0..<length).map { _ in UInt8(1 + random.below(255)) }
        var ids = (1...1 + random.below(1_000)).map { UInt64(2 * $0) }
        // The order in which an index may find them.
        if random.oneIn(4) { ids.shuffle(using: &random) }
        var gathered = GatheredKeys()
        let keys = ids.map { id in
            var key = common
            for place in changing { key[place] = UInt8(1 + random.below(random.oneIn(3) ? 255 : 2)) }
            if !isOneLength { key.removeLast(random.below(length)) }
            // Added without escapes, because there is no zero in it.
            gathered.add(ObjectID(rawValue: id)) { $0.append(prefix: key, ascending: true) }
            return key
        }
        gathered.sort()
        let expected = keys.indices.sorted {
            keys[$0] == keys[$1] ? ids[$0] < ids[$1] : keys[$0].lexicographicallyPrecedes(keys[$1])
        }
        #expect(gathered.order.map { Int($0) } == expected, "TIDEGAUGE_SEED=\(seed)")
        gathered.withKeys(gathered.order) { sorted in
            #expect(expected.indices.allSatisfy { Array(sorted[$0]) == keys[expected[$0]] }, "TIDEGAUGE_SEED=\(seed)")
            #expect(expected.indices.allSatisfy { sorted.id($0) == ids[expected[$0]] }, "TIDEGAUGE_SEED=\(seed)")
        }
    }

    @Test("keys are compared by all their bytes, wherever these lie", arguments: 0..<200)
    func tails(_ round: Int) {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        // The first eight bytes are in the key. A tail of up to eight is in an object, a longer one in its own memory.
        let common = (0..<24).map { _ in UInt8(random.below(3)) }
        func key() -> [UInt8] {
            var key = Array(common.prefix(9 + random.below(16)))
            key[8 + random.below(key.count - 8)] = UInt8(random.below(3))
            return key
        }
        for _ in 0..<40 {
            let (left, right) = (key(), key())
            let (a, b) = (
                left.withUnsafeBytes { RankedKey(bytes: $0, id: 1) },
                right.withUnsafeBytes { RankedKey(bytes: $0, id: 1) }
            )
            #expect(a.bytes == left)
            #expect((a < b) == left.lexicographicallyPrecedes(right), "TIDEGAUGE_SEED=\(seed): \(left) \(right)")
            #expect((a == b) == (left == right), "TIDEGAUGE_SEED=\(seed): \(left) \(right)")
        }
    }

    @Test("zero bytes in a text are distinguished from its end")
    func zeros() {
        for (text, bytes) in [
            ("", []), ("a", [97]), ("\0", [0, 255]), ("\0\0", [0, 255, 0, 255]), ("a\0b", [97, 0, 255, 98]),
            ("a\0", [97, 0, 255]),
            (String(repeating: "x\0", count: 40), Array(repeating: [120, 0, 255], count: 40).flatMap(\.self)),
        ] as [(String, [UInt8])] {
            var key = SortKeyBytes()
            key.append(.string(text), isOptional: true, ascending: true)
            #expect(key.bytes == [1] + bytes + [0, 1])
            key.removeAll()
            key.append(.string(text), isOptional: false, ascending: false)
            #expect(key.bytes == (bytes + [0, 1]).map { ~$0 })
        }
    }
}
