// Tests of the change set of a step, computed from the rows of that step, and of the sorting of numbers.
import StillingWellSeededRandom
import Testing

@testable import StillingWell
@testable import StillingWellTree

@Suite struct RankedStepTests {
    private static let shapes = [
        RankedTree.Shape(leafCapacity: 4, innerCapacity: 4), RankedTree.Shape(leafCapacity: 9, innerCapacity: 6),
        RankedTree.Shape(),
    ]

    @Test("the difference computed from a step's rows equals that of a walk over both trees", arguments: 0..<2_000)
    func byRows(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        var model = TreeModel(space: KeySpace.allCases.randomElement(using: &random)!)
        for _ in 0..<random.below(60) { _ = model.add(version: 1, &random) }
        let old = RankedTree(
            sorted: model.rows.map(\.entry), shape: Self.shapes.randomElement(using: &random)!)
        var net: [UInt64: TreeModel.Change] = [:]
        for _ in 0..<1 + random.below(6) {
            let change = model.change(version: 2, &random)
            let id = (change.old ?? change.new)!.id
            net[id] = TreeModel.Change(old: net[id].map(\.old) ?? change.old, new: change.new)
        }
        let removals = net.values.compactMap { change in
            change.old.flatMap { old in old.bytes == change.new?.bytes ? nil : old.key }
        }
        let insertions = net.values.compactMap { $0.new?.entry }
        var new = old
        new.apply(removals: removals, insertions: insertions)
        let byRows = TreeDifference(from: old, to: new, removing: removals, inserting: insertions)
        let walked = TreeDifference(from: old, to: new)
        for number in 0..<6 {
            let window = number == 0 ? TreeWindow.all : model.space.window(&random).window
            let expected = walked.changeSet(in: window)
            try #require(byRows.changeSet(in: window) == expected, "TIDEGAUGE_SEED=\(seed)")
            let known = byRows.changeSet(in: window, WindowEnds(window), showing: old.ranks(in: window))
            try #require(known.changes == expected, "TIDEGAUGE_SEED=\(seed)")
            // The ranks of an empty window do not matter.
            let ranks = new.ranks(in: window)
            try #require(known.newRanks.count == ranks.count, "TIDEGAUGE_SEED=\(seed)")
            if !ranks.isEmpty { try #require(known.newRanks == ranks, "TIDEGAUGE_SEED=\(seed)") }
        }
    }

    @Test("numbers are sorted as by comparing them", arguments: 0..<60)
    func numbers(_ round: Int) {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        // The numbers differ in one or two bytes.
        let fixed = UInt64.random(in: 0 ... .max, using: &random)
        let span = (0...random.below(2)).reduce(UInt64(0)) { span, _ in span | 0xff << UInt64(8 * random.below(8)) }
        var numbers = (0..<random.below(1_500)).map { index in
            let prefix = UInt64.random(in: 0 ... .max, using: &random)
            return RankedNumber(prefix: fixed & ~span | prefix & span, id: UInt64(2 * index + 1))
        }
        // The order in which an index may find them.
        if random.oneIn(4) { numbers.shuffle(using: &random) }
        let expected = numbers.indices.sorted {
            (numbers[$0].prefix, numbers[$0].id) < (numbers[$1].prefix, numbers[$1].id)
        }
        #expect(NumberSort.order(of: numbers).map { Int($0) } == expected, "TIDEGAUGE_SEED=\(seed)")
    }
}
