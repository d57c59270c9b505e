import StillingWellSeededRandom
import Testing

@testable import TidegaugeProfiles

@Suite("Instructions by function")
struct CallProfileTests {
    private func part(_ calls: RandomCalls, _ style: RandomCalls.Style, _ seed: UInt64) throws -> CallgrindPart {
        var random = SeededRandom(seed: seed)
        return try CallgrindFile.parts(Array(calls.text(style, &random).utf8), path: "seed \(seed)")[0]
    }

    @Test("With callers kept, every figure is that of the definition, recursion or not", arguments: seeds(60))
    func chains(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let calls = RandomCalls(&random, isRecursive: true)
        for (isCompressed, isRelative) in [(false, false), (true, false), (false, true), (true, true)] {
            let style = RandomCalls.Style(hasChains: true, isCompressed: isCompressed, isRelative: isRelative)
            let profile = CallProfile(try part(calls, style, seed))
            #expect(profile.functions == calls.functions, "seed \(seed)")
            let paths = profile.tree.nodes.indices.map { place in
                (profile.tree.path(to: place), Int(profile.tree.nodes[place].exclusive))
            }
            #expect(Dictionary(paths.filter { $0.1 > 0 }, uniquingKeysWith: +) == calls.exclusiveByPath, "seed \(seed)")
        }
    }

    @Test("Without callers, inclusive costs are those of the call graph", arguments: seeds(60))
    func graph(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let calls = RandomCalls(&random, isRecursive: false)
        for isCompressed in [false, true] {
            let style = RandomCalls.Style(hasChains: false, isCompressed: isCompressed, isRelative: isCompressed)
            let functions = CallProfile(try part(calls, style, seed)).functions
            #expect(functions.mapValues(\.exclusive) == calls.functions(\.exclusive, like: functions), "seed \(seed)")
            #expect(functions.mapValues(\.inclusive) == calls.functions(\.inclusive, like: functions), "seed \(seed)")
            // There are no call chains, so the cost of a helper is charged to no caller.
            #expect(functions.values.allSatisfy { $0.own == $0.exclusive })
        }
    }

    @Test("A sum of threads, per operation")
    func sumPerOperation() throws {
        let part = try #require(try CallgrindFile.parts(Array(CallgrindSample.text.utf8), path: "sample").first)
        let profile = (CallProfile(part) + CallProfile(part)).perOperation(4)
        #expect(profile.total == 55.5)
        #expect(profile.functions["work"] == FunctionCost(exclusive: 45, inclusive: 45, own: 45))
        #expect(profile.functions["main"] == FunctionCost(exclusive: 8, inclusive: 54, own: 8))
        #expect(profile.tree.inclusive.max() == 54)
    }
}

extension RandomCalls {
    fileprivate func functions(
        _ figure: KeyPath<FunctionCost, Double>, like other: [String: FunctionCost]
    ) -> [String: Double] {
        functions.filter { other[$0.key] != nil }.mapValues { $0[keyPath: figure] }
    }
}
