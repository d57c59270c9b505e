// Tests of the oracle's ordered rows against a sorted array.
import Testing

@testable import TidegaugeTrialRunner

@Suite struct OrderedRowsTests {
    @Test func followsASortedArrayThroughAnyHistory() {
        for seed in testSeeds(8) {
            var random = RandomSource(seed: seed, stream: 0)
            let first = random.below(3) == 0 ? 0 : random.below(2_000)
            var model = Set((0..<first).map { _ in Int64(random.below(1_000_000)) }).sorted()
            var rows = OrderedRows(sorted: model.map { .init(order: $0, key: $0 * 7) })
            for _ in 0..<3_000 {
                // Grows, then shrinks to nothing, so that chunks split and vanish.
                if model.isEmpty || random.below(10) < (model.count < 1_500 ? 6 : 3) {
                    let order = Int64(random.below(1_000_000))
                    let place = model.firstIndex { $0 >= order } ?? model.count
                    if place < model.count, model[place] == order { continue }
                    model.insert(order, at: place)
                    rows.insert(.init(order: order, key: order * 7))
                } else {
                    rows.remove(model.remove(at: random.below(model.count)))
                }
                #expect(rows.count == model.count, "seed \(seed)")
                guard !model.isEmpty else { continue }
                let index = random.below(model.count)
                #expect(rows[index] == .init(order: model[index], key: model[index] * 7), "seed \(seed)")
                #expect(rows.rank(of: model[index]) == index, "seed \(seed)")
            }
            #expect(rows.rows.map(\.order) == model, "seed \(seed)")
            while let order = model.popLast() { rows.remove(order) }
            #expect(rows.count == 0)
        }
    }

    @Test func copiesAreIndependent() {
        let rows = OrderedRows(sorted: (0..<1_000).map { .init(order: $0, key: $0) })
        var copy = rows
        copy.remove(500)
        #expect(rows.rank(of: 999) == 999)
        #expect(copy.rank(of: 999) == 998)
    }
}
