import StillingWellSeededRandom
import Testing

@testable import TidegaugeProfiles

@Suite("Growth by function")
struct ProfileDifferenceTests {
    /// Makes a profile from chains, outermost caller first, and the instructions that the last function executed.
    private func profile(_ costs: [(chain: String, cost: Int)]) throws -> CallProfile {
        let lines = costs.flatMap {
            ["fn=\($0.chain.split(separator: ">").reversed().joined(separator: "'"))", "1 \($0.cost)"]
        }
        let total = costs.reduce(0) { $0 + $1.cost }
        let text = (["events: Ir"] + lines + ["totals: \(total)"]).joined(separator: "\n")
        return CallProfile(try CallgrindFile.parts(Array(text.utf8), path: "costs")[0])
    }

    @Test("Rows are sorted by growth; what only one side has is nothing on the other")
    func rows() throws {
        let base = try profile([("main", 10), ("main>old", 30), ("main>walk", 100)])
        let head = try profile([("main", 10), ("main>new", 20), ("main>walk", 150)])
        let difference = ProfileDifference(base: base, head: head)
        #expect(difference.rows.map(\.name) == ["walk", "new", "main", "old"])
        #expect(difference.rows.map(\.exclusive.growth) == [50, 20, 0, -30])
        #expect(difference.rows.map(\.exclusive.relative) == [0.5, nil, 0, -1])
        #expect(difference.rows[2].inclusive == BeforeAfter(before: 140, after: 180))
        #expect(difference.grown(atLeast: 20).map(\.name) == ["walk", "new"])
        #expect(difference.paths(most: 1).map(\.names) == [["main", "walk"]])
    }

    @Test("Growth of a helper function is charged to its nearest caller that is no helper")
    func culprits() throws {
        let base = try profile([("main>walk", 50), ("main>walk>swift_retain", 10), ("main>other>swift_retain", 10)])
        let head = try profile([
            ("main>walk", 52), ("main>walk>outlined copy of T>swift_retain", 60), ("main>other>swift_retain", 10),
            ("main>other", 20),
        ])
        let difference = ProfileDifference(base: base, head: head)
        #expect(difference.rows[0].name == "swift_retain")
        #expect(difference.culprits.map(\.name) == ["walk", "other"])
        #expect(difference.culprits[0].own == BeforeAfter(before: 60, after: 112))
        #expect(difference.culprits[0].exclusive.growth == 2)
    }

    @Test("Swapping base and head negates the difference, and its sums are those of the profiles", arguments: seeds(60))
    func antisymmetry(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let style = RandomCalls.Style(hasChains: true, isCompressed: true, isRelative: true)
        let profiles = try (0..<2).map { _ in
            let calls = RandomCalls(&random, isRecursive: true)
            return CallProfile(try CallgrindFile.parts(Array(calls.text(style, &random).utf8), path: "\(seed)")[0])
        }
        let there = ProfileDifference(base: profiles[0], head: profiles[1])
        let back = ProfileDifference(base: profiles[1], head: profiles[0])
        let turned = Dictionary(uniqueKeysWithValues: back.rows.map { ($0.name, $0) })
        for row in there.rows {
            let other = try #require(turned[row.name])
            for figure in [\ProfileDifference.Row.exclusive, \.inclusive, \.own] {
                #expect(row[keyPath: figure].growth == -other[keyPath: figure].growth, "seed \(seed)")
            }
        }
        #expect(there.rows.count == back.rows.count)
        #expect(there.total == BeforeAfter(before: profiles[0].total, after: profiles[1].total))
        for figure in [\ProfileDifference.Row.exclusive, \.own] {
            #expect(there.rows.reduce(.zero) { $0 + $1[keyPath: figure] } == there.total, "seed \(seed)")
        }
        let paths = there.paths(most: .max).map(\.exclusive.growth)
        let shrunk = back.paths(most: .max).map(\.exclusive.growth)
        #expect(paths.reduce(0, +) - shrunk.reduce(0, +) == there.total.growth, "seed \(seed)")
        #expect(ProfileDifference(base: profiles[0], head: profiles[0]).culprits.isEmpty)
    }
}
