// Tests of counts and sums that scan pages directly.
import StillingWell
import StillingWellSeededRandom
import Testing

private final class Sheet: StoredObject {
    @Stored(.primaryKey) var number = 0
    @Stored var score = 0
    @Stored var done = false
    @Stored var title = ""
    @Stored var note: String? = nil
    // Texts of up to 900 bytes, too short to be stored apart from the row. Five of 900 bytes are longer than a page.
    @Stored var a = ""
    @Stored var b = ""
    @Stored var c = ""
    @Stored var d = ""
    @Stored var e = ""
}

@Suite("Scans of pages")
struct PageScanTests {
    private struct Row {
        var score: Int
        var done: Bool
        var title: String
        var note: String?
        var isLong: Bool
    }

    private static let scores = [Int.min, .min + 1, -5, -1, 0, 1, 5, .max - 1, .max]

    @Test("counts and sums are those of the rows", arguments: 0..<6)
    func same(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        let test = try TestStore([Sheet.self])
        // In some rounds all rows are short, so that each page can be scanned directly.
        let longEvery = [0, 40, 3][round % 3]
        // In the first three rounds, sums can leave the range of Int.
        let scores = round < 3 ? Self.scores : Self.scores.filter { abs($0 / 2) < 10 }
        let rows = (0..<300).map { index in
            Row(
                score: scores[random.below(scores.count)], done: random.oneIn(2),
                title: String((0..<random.below(60)).map { _ in "abé".randomElement(using: &random)! }),
                note: random.oneIn(3) ? nil : String(repeating: "b", count: random.below(40)) + "a",
                isLong: longEvery > 0 && random.oneIn(longEvery))
        }
        try test.store.write { connection in
            for (number, row) in rows.enumerated() {
                let sheet = try connection.create(Sheet.self, value: ["number": number])
                (sheet.score, sheet.done, sheet.title, sheet.note) = (row.score, row.done, row.title, row.note)
                guard row.isLong else { continue }
                for path in [\Sheet.a, \.b, \.c, \.d, \.e] { sheet[keyPath: path] = String(repeating: "l", count: 900) }
            }
        }
        // The second pass reads rows that were verified already.
        for store in [test.store, try copy(test)] {
            for _ in 0..<2 { try store.read { try check($0, rows, "TIDEGAUGE_SEED=\(seed)") } }
        }
    }

    private func copy(_ test: TestStore) throws -> Store {
        let path = test.path + "/copy"
        try test.store.compact(to: path)
        return try Store(.init(path: path, models: [Sheet.self], durability: .relaxed))
    }

    private func check(_ connection: Connection, _ rows: [Row], _ seed: String) throws {
        let all = try connection.objects(Sheet.self)
        func expect(_ filter: Filter<Sheet>, _ name: String, _ passes: (Row) -> Bool) {
            #expect(all.where(filter).count == rows.count(where: passes), "\(name), \(seed)")
        }
        for constant in Self.scores {
            expect(\.score == constant, "== \(constant)") { $0.score == constant }
            expect(\.score != constant, "!= \(constant)") { $0.score != constant }
            expect(\.score < constant, "< \(constant)") { $0.score < constant }
            expect(\.score <= constant, "<= \(constant)") { $0.score <= constant }
            expect(\.score > constant, "> \(constant)") { $0.score > constant }
            expect(\.score >= constant, ">= \(constant)") { $0.score >= constant }
        }
        for low in Self.scores {
            for high in Self.scores {
                expect(\.score >= low && \.score < high, "\(low) ..< \(high)") { low <= $0.score && $0.score < high }
                expect(\.score > low && \.score <= high, "\(low) <.. \(high)") { low < $0.score && $0.score <= high }
                expect(\.score != low && \.score != high && \.score <= high, "≠ \(low), < \(high)") {
                    $0.score != low && $0.score < high
                }
            }
        }
        for constant in [false, true] {
            expect(\.done == constant, "== \(constant)") { $0.done == constant }
            expect(\.done != constant, "!= \(constant)") { $0.done != constant }
        }
        for part in ["", "a", "é", "ab", "aé", "bbba", "bbbbbbbbbbbbbbbba"] {
            expect((\Sheet.title).contains(part), "contains \(part)") { has($0.title, part) }
            expect((\Sheet.note).contains(part), "note contains \(part)") { $0.note.map { has($0, part) } ?? false }
        }
        for row in rows.prefix(20) + [Row(score: 0, done: false, title: "", note: "", isLong: false)] {
            expect(\.title == row.title, "== \(row.title)") { $0.title.utf8.elementsEqual(row.title.utf8) }
            expect(\.note == row.note, "note == \(row.note ?? "nil")") { other in
                row.note.map { other.note?.utf8.elementsEqual($0.utf8) ?? false } ?? (other.note == nil)
            }
        }
        let sum = rows.reduce(into: Int128(0)) { $0 += Int128($1.score) }
        #expect(all.sum(\.score) == Int(clamping: sum), "\(seed)")
        #expect(all.min(\.score) == rows.map(\.score).min(), "\(seed)")
        #expect(all.max(\.score) == rows.map(\.score).max(), "\(seed)")
        let done = rows.filter(\.done).reduce(into: Int128(0)) { $0 += Int128($1.score) }
        #expect(all.where(\.done == true).sum(\.score) == Int(clamping: done), "\(seed)")
    }

    private func has(_ text: String, _ part: String) -> Bool {
        let (text, part) = (Array(text.utf8), Array(part.utf8))
        return part.isEmpty
            || part.count <= text.count
                && (0...text.count - part.count).contains { text[$0..<$0 + part.count].elementsEqual(part) }
    }
}
