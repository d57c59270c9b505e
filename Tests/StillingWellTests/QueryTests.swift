import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Queries")
struct QueryTests {
    private static func table() throws -> (TestStore, Table) {
        let test = try TestStore(durability: .memory)
        return (test, try test.store.core.storage.table(of: Note.self))
    }

    private func plan(_ table: Table, _ filter: Filter<Note>, _ sort: [SortKey<Note>]) -> QueryPlan {
        QueryPlan(table: table, filter: filter.expression, sort: sort.map(\.term))
    }

    @Test("ranges of the leading sort key are windows over one tree; equal queries are one")
    func windows() throws {
        let (test, table) = try Self.table()
        let a = plan(table, \.score > 10 && \.done == false, [SortKey(\.score)])
        let b = plan(table, \.done == false && \.score >= 11, [SortKey(\.score)])
        let c = plan(table, \.score < 5 && \.done == false, [SortKey(\.score)])
        let d = plan(table, \.score < 5 && \.done == true, [SortKey(\.score)])
        #expect(a == b)
        #expect(a != c && a.tree == c.tree)
        #expect(c.tree != d.tree)
        // With another leading sort key the range is not a window.
        let e = plan(table, \.score > 10, [SortKey(\.title)])
        #expect(e.lower == nil && e.upper == nil && e.tree.residual.count == 1)
        // A range over an optional column is not a window, because null is in no range.
        let f = plan(table, \.group > 1, [SortKey(\.group)])
        #expect(f.lower == nil && f.tree.residual.count == 1)
        withExtendedLifetime(test) {}
    }

    @Test("an interval index finds what a loop finds", arguments: 0..<20)
    func intervals(_ round: Int) {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        var index = IntervalIndex()
        var model: [Int: ClosedRange<UInt64>] = [:]
        for step in 0..<400 {
            if random.oneIn(4), let handle = model.keys.sorted().randomElement(using: &random) {
                index.remove(handle: handle)
                model[handle] = nil
            } else {
                let low = UInt64(random.below(100))
                let high = random.oneIn(10) ? UInt64.max : low + UInt64(random.below(20))
                index.insert(low, high, handle: step)
                model[step] = low...high
            }
            let point = random.oneIn(20) ? UInt64.max : UInt64(random.below(130))
            var found = HandleList()
            index.append(containing: point, to: &found)
            #expect(
                (0..<found.count).map { found[$0] }.sorted() == model.filter { $0.value.contains(point) }.keys.sorted(),
                "TIDEGAUGE_SEED=\(seed)")
        }
    }

    @Test("the query index misses no filter that a changed row meets, and offers each once", arguments: 0..<10)
    func index(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let (test, table) = try Self.table()
        var index = QueryIndex(table.schema)
        var filters: [Int: Set<FilterExpression>] = [:]
        let row = RowBuffer()
        let other = RowBuffer()
        for handle in 0..<300 {
            let conditions = Self.conditions(&random)
            filters[handle] = conditions
            index.insert(conditions, handle: handle)
        }
        for handle in 0..<300 where random.oneIn(3) {
            index.remove(filters[handle]!, handle: handle)
            filters[handle] = nil
        }
        for _ in 0..<200 {
            Self.fill(row, table, &random)
            Self.fill(other, table, &random)
            let old = random.oneIn(5) ? nil : row.reader
            let new = random.oneIn(5) ? nil : other.reader
            var offered: [Int] = []
            index.forEachCandidate(old, new) { offered.append($0) }
            #expect(Set(offered).count == offered.count, "TIDEGAUGE_SEED=\(seed)")
            let meeting = filters.filter { _, conditions in
                [old, new].contains { row in row.map { row in conditions.allSatisfy { $0.matches(row) } } ?? false }
            }
            #expect(Set(meeting.keys).isSubset(of: offered), "TIDEGAUGE_SEED=\(seed)")
        }
        withExtendedLifetime(test) {}
    }

    private static func conditions(_ random: inout SeededRandom) -> Set<FilterExpression> {
        var all: [Filter<Note>] = []
        for _ in 0...random.below(3) {
            let number = random.below(20)
            switch random.below(7) {
            case 0: all.append(\.score == number)
            case 1: all.append(\.score >= number)
            case 2: all.append(\.score < number)
            case 3: all.append(\.weight <= Double(number) / 2)
            case 4: all.append(\.group == (number < 10 ? nil : number))
            case 5: all.append((\Note.title).in(["a", "b", "\(number)"]))
            default: all.append(!(\.done == true))
            }
        }
        return Set(all.flatMap(\.expression.conjuncts))
    }

    private static func fill(_ row: RowBuffer, _ table: Table, _ random: inout SeededRandom) {
        let note = Note(id: 0, score: random.below(20), title: ["a", "b", "c"][random.below(3)])
        note.weight = Double(random.below(20)) / 2
        note.group = random.oneIn(3) ? nil : random.below(20)
        note.done = random.oneIn(2)
        table.layout.encode(note, into: row)
    }
}
