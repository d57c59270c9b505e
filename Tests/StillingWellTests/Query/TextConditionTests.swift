import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

@Suite("Text conditions")
struct TextConditionTests {
    private func matches(_ match: TextMatch, _ value: String, _ text: String, foldsCase: Bool = false) -> Bool {
        let pattern = TextPattern(match, text, foldsCase: foldsCase)
        return Array(value.utf8).withUnsafeBytes { pattern.matches($0) }
    }

    @Test(
        "like: * is any text, ? one scalar, a backslash takes the meaning away",
        arguments: [
            ("abc", "abc", true), ("abc", "a*", true), ("abc", "*c", true), ("abc", "a?c", true), ("abc", "a?", false),
            ("abc", "*", true), ("", "*", true), ("", "", true), ("", "?", false), ("aXbXc", "a*b*c", true),
            ("aaab", "*ab", true), ("aaab", "*aab*", true), ("ü", "?", true), ("üb", "?b", true),
            ("a*c", "a\\*c", true),
            ("abc", "a\\*c", false), ("a?c", "a\\?c", true), ("a\\c", "a\\\\c", true), ("a\\", "a\\", true),
            ("mississippi", "m*iss*ip*", true), ("mississippi", "m*iss*x*", false),
        ])
    func like(_ value: String, _ pattern: String, _ expected: Bool) {
        #expect(matches(.like, value, pattern) == expected)
    }

    @Test("a match with a long pattern of stars ends soon")
    func manyStars() {
        let value = String(repeating: "a", count: 3_000)
        #expect(!matches(.like, value, String(repeating: "a*", count: 50) + "b"))
    }

    @Test(
        "without regard to case: simple folding, one scalar for one",
        arguments: [
            ("Straße", "STRAẞE", true), ("Straße", "STRASSE", false), ("ΣΊΣΥΦΟΣ", "σίσυφος", true),
            ("\u{212A}elvin", "kelvin", true), ("ﬆ", "ﬅ", true), ("ı", "i", false), ("İ", "i", false),
            ("Ⱥ", "ⱥ", true), ("Ǆ", "ǆ", true), ("ǅ", "ǆ", true), ("ſ", "S", true), ("Ꭰ", "ꭰ", true),
            ("𐐀", "𐐨", true), ("Ж", "ж", true), ("ΐ", "\u{1FD3}", true), ("a", "b", false),
        ])
    func folding(_ a: String, _ b: String, _ expected: Bool) {
        #expect(matches(.equals, a, b, foldsCase: true) == expected)
        #expect(matches(.equals, b, a, foldsCase: true) == expected)
        #expect(matches(.contains, "<\(a)>", b, foldsCase: true) == expected)
        #expect(matches(.equals, a, b) == a.utf8.elementsEqual(b.utf8))
    }

    @Test("folding a folded scalar does not change it")
    func foldingIsStable() {
        for value in (0 as UInt32)...0x1_ffff {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let folded = CaseFolding.fold(scalar)
            if CaseFolding.fold(folded) != folded { Issue.record("\(String(value, radix: 16))") }
        }
    }

    @Test("contains, prefix and suffix agree with the standard library on bytes", arguments: 0..<8)
    func random(_ round: Int) {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        func text(_ length: Int) -> String {
            String((0..<random.below(length)).map { _ in ["a", "b", "ü", "\0", "A"][random.below(5)] }.joined())
        }
        for _ in 0..<500 {
            let value = text(12)
            let part = text(4)
            let bytes = Array(value.utf8)
            let wanted = Array(part.utf8)
            let found = (0...bytes.count).contains { bytes[$0...].starts(with: wanted) }
            #expect(matches(.contains, value, part) == found, "TIDEGAUGE_SEED=\(seed)")
            #expect(matches(.beginsWith, value, part) == bytes.starts(with: wanted), "TIDEGAUGE_SEED=\(seed)")
            #expect(
                matches(.endsWith, value, part) == bytes.reversed().starts(with: wanted.reversed()),
                "TIDEGAUGE_SEED=\(seed)")
            #expect(
                matches(.contains, value, part, foldsCase: true)
                    == matches(.contains, value.lowercased(), part.lowercased()),
                "TIDEGAUGE_SEED=\(seed)")
        }
    }

    @Test("a prefix of the leading sort column is a window; nil passes nothing; a range has both ends")
    func plans() throws {
        let test = try TestStore(durability: .memory)
        let table = try test.store.core.storage.table(of: Note.self)
        func plan(_ filter: Filter<Note>, _ sort: SortKey<Note>) -> QueryPlan {
            QueryPlan(table: table, filter: filter.expression, sort: [sort.term])
        }
        let prefix = plan((\Note.title).hasPrefix("ab"), SortKey(\.title))
        #expect(prefix.tree.residual.isEmpty && prefix.lower == Array("ab".utf8) && prefix.upper == Array("ac".utf8))
        #expect(plan((\Note.title).hasPrefix("ab", caseInsensitive: true), SortKey(\.title)).lower == nil)
        #expect(plan((\Note.title).hasPrefix("ab"), SortKey(\.score)).tree.residual.count == 1)
        let range = plan((\Note.score).isBetween(1...5), SortKey(\.score))
        #expect(range == plan(\.score >= 1 && \.score <= 5, SortKey(\.score)) && range.lower != nil)
        // Equivalent filters have equal plans.
        let a = plan(!(!(\.done == true || (\.score == 1 || \.score == 2))), SortKey(\.title))
        let b = plan((\.done == true || \.score == 1) || \.score == 2, SortKey(\.title))
        #expect(a == b)
        #expect(plan(!(\.score == 1) && .all, SortKey(\.title)) == plan(\.score != 1, SortKey(\.title)))
    }

    @Test("a prefix of an indexed column is found by its index, also if it contains zeros")
    func indexed() throws {
        let test = try TestStore([Human.self], durability: .memory)
        let table = try test.store.core.storage.table(of: Human.self)
        try test.store.write { connection in
            for id in 0..<200 { try connection.add(Human(id, id % 20 == 0 ? "a\0\(id)" : "b\(id)")) }
        }
        try test.store.read { connection in
            let filter = (\Human.name).hasPrefix("a\0")
            let source = try #require(connection.currentSource)
            #expect(IndexAccess.candidates([filter.expression], table, source)?.count == 10)
            #expect(try connection.objects(Human.self).where(filter).count == 10)
            let folding = (\Human.name).hasPrefix("A\0", caseInsensitive: true)
            #expect(IndexAccess.candidates([folding.expression], table, source) == nil)
        }
    }
}
