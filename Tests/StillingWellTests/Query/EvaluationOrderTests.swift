import StillingWellSync
import Synchronization
import Testing

@testable import StillingWell

@Suite("The order of first evaluations")
struct EvaluationOrderTests {
    private let test: TestStore
    private let table: Table
    private let evaluator: Evaluator

    init() throws {
        test = try TestStore(durability: .memory)
        try test.store.write { for id in 0..<5_000 { try $0.add(Note(id: id, score: id)) } }
        table = try test.store.core.storage.table(of: Note.self)
        evaluator = Evaluator(test.store.core.storage)
    }

    private func tree(_ filter: Filter<Note>) -> SharedTree {
        SharedTree(QueryPlan(table: table, filter: filter.expression, sort: []).tree, table)
    }

    /// Records the number of rows of each evaluated tree, one entry per message, and -1 for another message.
    private static func note(_ message: Upkeep.Message, in replies: Watched<[[Int]]>) {
        guard case .evaluated(let trees, _) = message else { return replies.update { $0.append([-1]) } }
        replies.update { $0.append(trees.map { $0.1.count }.sorted()) }
    }

    @Test("lookups that wait together with scans come first")
    func together() throws {
        let replies = Watched<[[Int]]>([])
        let trees = (0..<20).map { tree(\.score >= $0 * 100) } + [tree(\.id == 7), tree(\.id == 8)]
        evaluator.evaluate(trees) { Self.note($0, in: replies) }
        try replies.wait("all trees") { $0.joined().count == trees.count }
        #expect(replies.value.first == [1, 1])
        evaluator.stop()
    }

    @Test("a lookup that is asked for while a table is scanned does not wait for the end of the scan")
    func amidAScan() throws {
        let replies = Watched<[[Int]]>([])
        let lookups = Watched(0)
        let scan = tree(\.score >= 0)
        let (first, second) = (tree(\.id == 7), tree(\.id == 8))
        evaluator.evaluate([scan, first]) { [evaluator] message in
            Self.note(message, in: replies)
            lookups.update { $0 += 1 }
            // This is the evaluator's thread, so the scan continues afterwards.
            if lookups.value == 1 { evaluator.evaluate([second]) { Self.note($0, in: replies) } }
        }
        try replies.wait("all trees") { $0.joined().count == 3 }
        #expect(replies.value == [[1], [1], [5_000]])
        evaluator.stop()
    }

    @Test("a dropped tree is not evaluated, neither before nor during a scan")
    func dropped() throws {
        let replies = Watched<[[Int]]>([])
        let (before, during, kept) = (tree(\.score >= 4_000), tree(\.score >= 0), tree(\.score >= 4_990))
        let lookup = tree(\.id == 7)
        before.isDropped.store(true, ordering: .relaxed)
        evaluator.evaluate([before, during, kept, lookup]) { message in
            Self.note(message, in: replies)
            // The lookup is answered before the scan begins.
            during.isDropped.store(true, ordering: .relaxed)
        }
        try replies.wait("the trees that are kept") { $0.joined().count == 2 }
        #expect(replies.value == [[1], [10]])
        evaluator.stop()
    }

    @Test("more trees than one scan fills are filled by several")
    func many() throws {
        let replies = Watched<[[Int]]>([])
        let trees = (0..<600).map { tree(\.score >= 5_000 - $0) }
        evaluator.evaluate(trees) { Self.note($0, in: replies) }
        try replies.wait("all trees") { $0.joined().count == trees.count }
        #expect(replies.value.map(\.count) == [256, 256, 88])
        #expect(replies.value.joined().sorted() == Array(0..<600))
        evaluator.stop()
    }
}
