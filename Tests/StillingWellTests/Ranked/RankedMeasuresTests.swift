// Random histories of a tree with measures, compared with sums over arrays.
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellTree

/// The values of a row, derived from its id and stamp: an optional double, an optional integer, an integer.
private struct Values: Equatable {
    static let measures = Measures(columns: 0b10_0110, doubles: 0b10, optionals: 0b110)
    var weight: Double?
    var group: Int?
    var score: Int

    init(_ row: ModelRow) { self.init(id: row.id, stamp: row.stamp) }

    init(id: UInt64, stamp: UInt64) {
        let mixed = Int((id &* 31 &+ stamp &* 17) % 97)
        weight = mixed % 5 == 0 ? nil : Double(mixed) / 4 - 10
        group = mixed % 3 == 0 ? nil : mixed - 50
        score = mixed % 7 == 0 ? .max - mixed : mixed - 20
    }

    func write(to words: UnsafeMutablePointer<UInt64>) {
        words[0] = (weight ?? .nan).bitPattern
        words[1] = UInt64(bitPattern: Int64(group ?? 0))
        words[2] = group == nil ? 0 : 1
        words[3] = UInt64(bitPattern: Int64(score))
    }

    var words: [UInt64] {
        var words = [UInt64](repeating: 0, count: 4)
        words.withUnsafeMutableBufferPointer { write(to: $0.baseAddress!) }
        return words
    }
}

extension RankedTree {
    /// The same tree, with the values of its rows.
    fileprivate var valued: RankedTree {
        measured(Values.measures) { id, words in
            let stamp = entries.first { $0.key.id == id }!.stamp
            Values(id: id, stamp: stamp).write(to: words)
        }
    }

    fileprivate mutating func apply(removals: [RankedKey], valued insertions: [RankedEntry]) {
        apply(
            removals: removals, insertions: insertions,
            values: insertions.flatMap { Values(id: $0.key.id, stamp: $0.stamp).words })
    }

    /// Returns the name of a summary that differs from that of the rows' values, or nil.
    fileprivate func wrongSummary(_ rows: [ModelRow], _ random: inout SeededRandom) -> String? {
        for _ in 0..<6 {
            let ends = [random.below(count + 1), random.below(count + 1)].sorted()
            let ranks = random.oneIn(3) ? 0..<count : ends[0]..<ends[1]
            let values = rows[ranks].map { Values($0) }
            var weights = DoubleSummary()
            for weight in values.compactMap(\.weight) { weights.add(weight) }
            var groups = IntegerSummary()
            for group in values.compactMap(\.group) { groups.add(group) }
            var scores = IntegerSummary()
            for value in values { scores.add(value.score) }
            if summary(of: 1, in: ranks) != .doubles(weights) { return "weights of \(ranks)" }
            if summary(of: 2, in: ranks) != .integers(groups) { return "groups of \(ranks)" }
            if summary(of: 5, in: ranks) != .integers(scores) { return "scores of \(ranks)" }
            if summary(of: 0, in: ranks) != nil { return "a column that it does not have" }
        }
        return nil
    }
}

@Suite("Measures of a ranked tree")
struct RankedMeasuresTests {
    private static let shapes = [
        RankedTree.Shape(leafCapacity: 4, innerCapacity: 4), RankedTree.Shape(leafCapacity: 9, innerCapacity: 6),
        RankedTree.Shape(),
    ]

    @Test("are those of its rows after every change, in every state that is still held", arguments: 0..<300)
    func histories(_ round: Int) {
        let seed = SeededRandom.base &+ UInt64(round)
        if let violation = Self.history(seed) { Issue.record("TIDEGAUGE_SEED=\(seed): \(violation)") }
    }

    private static func history(_ seed: UInt64) -> String? {
        var random = SeededRandom(seed: seed)
        var model = TreeModel(space: KeySpace.allCases.randomElement(using: &random)!)
        for _ in 0..<random.below(80) { _ = model.add(version: 1, &random) }
        // A second tree has no measures. The measured tree is sometimes rebuilt from it.
        var plain = RankedTree(sorted: model.rows.map(\.entry), shape: shapes.randomElement(using: &random)!)
        var tree = plain.valued
        var states = [(tree, model.rows)]
        for version in 2..<UInt64(5 + random.below(6)) {
            var net: [UInt64: TreeModel.Change] = [:]
            for _ in 0..<(random.oneIn(4) ? 10 + random.below(30) : 1) {
                let change = model.change(version: version, &random)
                let id = (change.old ?? change.new)!.id
                net[id] = TreeModel.Change(old: net[id].map(\.old) ?? change.old, new: change.new)
            }
            let removals = net.values.compactMap { change in
                change.old.flatMap { old in old.bytes == change.new?.bytes ? nil : old.key }
            }
            let insertions = net.values.compactMap { $0.new?.entry }
            let before = plain
            plain.apply(removals: removals, insertions: insertions)
            if random.oneIn(4) {
                tree = before.valued
                let changes = before.changes(to: plain)
                tree.apply(removals: changes.removals, valued: changes.insertions)
            } else {
                tree.apply(removals: removals, valued: insertions)
            }
            if let violation = tree.checkInvariants() { return violation }
            states.append((tree, model.rows))
        }
        for (tree, rows) in states {
            if !tree.entries.elementsEqual(rows.map(\.entry)) { return "other rows" }
            if let violation = tree.wrongSummary(rows, &random) { return violation }
        }
        return RankedTree.checkReferences(from: states.map(\.0))
    }

    @Test("are dropped after a change without values")
    func forgotten() {
        var tree = RankedTree(sorted: [RankedEntry(key: RankedKey(prefix: 1, id: 1), stamp: 1)]).valued
        #expect(tree.summary(of: 5, in: 0..<1) != nil)
        tree.apply(removals: [], insertions: [RankedEntry(key: RankedKey(prefix: 2, id: 2), stamp: 1)])
        #expect(tree.count == 2 && tree.summary(of: 5, in: 0..<2) == nil && tree.checkInvariants() == nil)
    }

    @Test("sum up exactly beyond the range of Int, and with twice the digits of a double")
    func sums() {
        var integers = IntegerSummary()
        for value in [Int.max, .max, 5, .min, .min] { integers.add(value) }
        #expect(integers.sum == 3 && integers.mean == 0.6 && integers.min == .min && integers.max == .max)
        for _ in 0..<3 { integers.add(.min) }
        #expect(integers.sum == .min && integers.mean! < -3.4e18)
        integers.add(.max)
        for _ in 0..<9 { integers.add(.max) }
        #expect(integers.sum == .max)

        for terms in [[1e16, 1, -1e16, 0.1], [0.1, -1e16, 1, 1e16], [1, 0.1, .nan, 1e16, -1e16]] {
            var doubles = DoubleSummary()
            for term in terms { doubles.add(term) }
            #expect(doubles.sum == 1.1 && doubles.count == 4)
        }
        var infinite = DoubleSummary()
        for term in [1, .infinity, -5] { infinite.add(term) }
        #expect(infinite.sum == .infinity && infinite.min == -5 && infinite.max == .infinity)
    }
}
