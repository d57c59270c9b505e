// Rule 3. A change set lists only rows that were written, and rows that these bring along. (When one written row passes
// others, Realm may report those as deleted and inserted.)
import StillingWell
import Testing

@Suite("Rule 3: deletions, then insertions, then modifications, and only of written rows")
final class Rule03OrderTests: NoteSuite {
    init() throws { try super.init(40) }

    private func change(_ body: (Connection) throws -> Void) throws {
        try test.store.write(body)
        try feed.catchUp()
    }

    @Test("a row that passes all others is told as one move, and the others are not told")
    func unwritten() throws {
        try feed.observe("notes", notes)
        try change { try note(0, $0).score = 1_000 }
        #expect(feed.takeLog() == ["notes -0 +39"])
        try change { try note(0, $0).score = -1 }
        #expect(feed.takeLog() == ["notes -39 +0"])
    }

    @Test("rows that come in by a limit or a group are told too")
    func neighbours() throws {
        try feed.observe("limited", notes.limited(to: 3))
        try change { try $0.delete(note(0, $0)) }
        // Row 3 was not written. It has come within the limit.
        #expect(feed.takeLog() == ["limited -0 +2"])
        try test.store.write { connection in for id in 1..<40 { try note(id, connection).group = id % 2 } }
        try feed.catchUp()
        _ = feed.takeLog()
        try feed.observe("distinct", notes.distinct(by: [\.group]))
        try change { try $0.delete(note(1, $0)) }
        // The next row of the same group is shown instead.
        #expect(feed.takeLog().contains { $0.hasPrefix("distinct -0") && $0.contains("+") })
    }
}
