import StillingWellSeededRandom
import Testing

@testable import TidegaugeReport

@Suite("Tables on a terminal")
struct AlignedTableTests {
    private let rows = [
        ["driver", "variant", "p50", "p99"],
        ["stillingwell", "dataset.items=1000;observers.count=1;observers.queries=overlapping", "11.2 µs", "76.0 µs"],
        ["grdb-pool", "-", "1 ms", "≥7.00 s"],
    ]

    @Test func aTableThatFitsIsLeftAlone() {
        #expect(AlignedTable(rows: rows).lines(columns: 200) == AlignedTable(rows: rows).lines())
        #expect(AlignedTable(rows: rows).lines()[2].hasPrefix("grdb-pool     -   "))
    }

    @Test func wordsAreWrappedBetweenKeys() {
        #expect(
            AlignedTable(rows: rows).lines(columns: 55) == [
                "driver        variant                      p50      p99",
                "stillingwell  dataset.items=1000;      11.2 µs  76.0 µs",
                "              observers.count=1;",
                "              observers.queries=over…",
                "grdb-pool     -                           1 ms  ≥7.00 s",
            ])
    }

    @Test("No line is longer than the terminal, and every figure is there", arguments: seeds(50))
    func fits(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let width = 2 + random.below(8)
        let rows = (0..<(1 + random.below(5))).map { row in
            (0..<width).map { column in
                column < 2
                    ? (0..<random.below(5)).map { "key\($0)=\(random.below(1_000));" }.joined()
                    : "\(row)/\(column)/" + String(repeating: "9", count: random.below(8))
            }
        }
        for columns in [40, 60, 80] {
            let lines = AlignedTable(rows: rows).lines(columns: columns)
            #expect(lines.allSatisfy { $0.count <= columns }, "seed \(seed)")
            let words = Set(lines.flatMap { $0.split(separator: " ").map(String.init) })
            #expect(rows.allSatisfy { $0.dropFirst(2).allSatisfy(words.contains) }, "seed \(seed)")
        }
        #expect(AlignedTable(rows: rows).lines(columns: 10_000) == AlignedTable(rows: rows).lines())
    }
}
