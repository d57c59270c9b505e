import Foundation
import StillingWellSeededRandom
import Testing

@testable import StillingWell

/// Properties whose names are keywords, or not ASCII.
final class Odd: StoredObject {
    @Stored var `in` = 0
    @Stored var größe = 0.0
    @Stored var 🐶 = 0
    @Stored var 👍🏽_👨‍👩‍👧 = 0
}

@Suite("Queries as text")
struct QueryTextTests {
    private static func withTable(_ body: (Table, Connection) throws -> Void) throws {
        let test = try TestStore([Note.self, Odd.self], durability: .memory)
        let table = try test.store.core.storage.table(of: Note.self)
        try test.store.read { try body(table, $0) }
    }

    private static let date = Date(timeIntervalSinceReferenceDate: 7)
    private static let uuid = UUID()

    @Test("the typed and the text form of a query share one plan")
    func plans() throws {
        let (date, uuid) = (Self.date, Self.uuid)
        let forms: [(String, [(any QueryArgument)?], (Results<Note>) -> Results<Note>)] = [
            ("score > 50 AND done == false", [], { $0.where(\.score > 50 && \.done == false) }),
            ("  done = FALSE && 50 < score ", [], { $0.where(\.score > 50 && \.done == false) }),
            ("NOT (score <> 5 or not title == 'x')", [], { $0.where(!(\.score != 5 || !(\.title == "x"))) }),
            (
                "score == 1 OR score == 2 OR score == 3", [],
                { $0.where(\.score == 1 || (\.score == 2 || \.score == 3)) }
            ),
            (
                "score >= 1 and score =< 2 and weight => 0.5", [],
                { $0.where(\.score >= 1 && (\.score <= 2 && \.weight >= 0.5)) }
            ),
            ("weight > 1", [], { $0.where(\.weight > 1) }),
            ("group == NULL or group != nil", [], { $0.where(\.group == nil || \.group != nil) }),
            ("score == NULL or group == 1", [], { $0.where(\.group == 1) }),
            (
                "title CONTAINS 'a' and title BEGINSWITH[c] \"B\"", [],
                {
                    $0.where((\Note.title).contains("a") && (\Note.title).hasPrefix("b", caseInsensitive: true))
                }
            ),
            (
                "title ENDSWITH 'a' and title like[c] '*x?'", [],
                {
                    $0.where((\Note.title).hasSuffix("a") && (\Note.title).isLike("*X?", caseInsensitive: true))
                }
            ),
            (
                "title ==[c] 'A' or title !=[c] 'b'", [],
                {
                    $0.where((\Note.title).isEqualIgnoringCase(to: "a") || !(\Note.title).isEqualIgnoringCase(to: "B"))
                }
            ),
            ("score IN {1, 2, 3}", [], { $0.where((\Note.score).in([1, 2, 3])) }),
            ("group in $0", [[1, nil, 2] as [Int?]], { $0.where((\Note.group).in([1, nil, 2])) }),
            ("score in {7.0, 7.5}", [], { $0.where(\.score == 7) }),
            ("score BETWEEN {1, 5}", [], { $0.where((\Note.score).isBetween(1...5)) }),
            ("score < 5.5 and score > -2.5", [], { $0.where(\.score <= 5 && \.score >= -2) }),
            ("score < 99999999999999999999", [], { $0 }),
            (
                "due < $0 and tag == $1 and group == $2", [date, uuid, nil as Int?],
                {
                    $0.where(\.due < date && \.tag == uuid && \.group == nil)
                }
            ),
            ("tag == '\(uuid)'", [], { $0.where(\.tag == uuid) }),
            ("blob == $0", [Data([1, 2])], { $0.where(\.blob == Data([1, 2])) }),
            ("TRUEPREDICATE", [], { $0 }),
            ("score > 1 and FALSEPREDICATE", [], { $0.where(!.all) }),
            (
                "SORT(score DESC, title)", [],
                {
                    $0.sorted(by: [SortKey(\.score, ascending: false), SortKey(\.title)])
                }
            ),
            (
                "score > 50 SORT(score descending) DISTINCT(group, done) LIMIT(10)", [],
                {
                    $0.where(\.score > 50).sorted(by: \.score, ascending: false).distinct(by: [\.done, \.group])
                        .limited(to: 10)
                }
            ),
            ("score > 3 sort(score asc) limit($0)", [5], { $0.where(\.score > 3).sorted(by: \.score).limited(to: 5) }),
        ]
        try Self.withTable { _, connection in
            for (text, arguments, typed) in forms {
                let notes = try connection.objects(Note.self)
                let found = try notes.refined(by: text, arguments)
                #expect(found.query.plan == typed(notes).query.plan, "\(text)")
            }
            let odd = try connection.objects(Odd.self)
            let found = try odd.where("`in` > 1 AND größe < 2")
            #expect(found.query.plan == odd.where(\.in > 1 && \.größe < 2).query.plan)
            let symbols = try odd.where("🐶 > 1 AND 👍🏽_👨‍👩‍👧 < 2")
            let typed = \Odd.🐶 > 1 && \.👍🏽_👨‍👩‍👧 < 2
            #expect(symbols.query.plan == odd.where(typed).query.plan)
            try #expect(odd.where("\(typed)").query.plan == symbols.query.plan)
            let refined = try connection.objects(Note.self).sorted(by: \.title).limited(to: 9).where(
                "done == $0 LIMIT(12)", true)
            let whole = try connection.objects(Note.self).where("done == true sort(title) limit(9)")
            #expect(refined.query.plan == whole.query.plan)
        }
    }

    @Test(
        "a fault names its place, what was expected, and the probable spelling",
        arguments: [
            ("scoer > 50", "1:1: Note has no property 'scoer' (did you mean 'score'?)\n    scoer > 50\n    ^"),
            (
                "score > 50 AND\n  titel == 'x'",
                "2:3: Note has no property 'titel' (did you mean 'title'?)\n      titel == 'x'\n      ^"
            ),
            (
                "title == '👨‍👩‍👧 家é' AND scoer > 1",
                "1:25: Note has no property 'scoer' (did you mean 'score'?)\n    title == '👨‍👩‍👧 家é' AND scoer > 1\n"
                    + String(repeating: " ", count: 4 + 22) + "^"
            ),
            ("score >", "1:8: expected a constant, found the end"),
            (
                "score 5",
                "1:7: expected a comparison (==, !=, <, <=, >, >=, IN, BETWEEN, CONTAINS, BEGINSWITH, ENDSWITH, LIKE)"
            ),
            ("Score > 5", "1:1: Note has no property 'Score' (did you mean 'score'?)"),
            ("score > 'a'", "1:9: 'score' of Note is an integer, and cannot be compared with a string"),
            (
                "due > 'a'",
                "1:7: 'due' of Note is a date, and cannot be compared with a string; pass one as an argument"
            ),
            ("tag == 'no'", "1:8: 'tag' of Note is a UUID"),
            ("score > NULL", "1:9: NULL is in no order: use == or !="),
            ("title >[c] 'a'", "1:8: [c] goes with == and !="),
            ("title ==[x] 'a'", "1:10: expected [c]"),
            ("score CONTAINS 'a'", "1:1: 'score' of Note is an integer: operators on text"),
            ("title CONTAINS 5", "1:16: expected a string to look for, found 5"),
            ("score > score", "1:9: a property is compared with a constant"),
            ("5 > 6", "1:1: two constants are compared"),
            ("5 score", "1:3: expected a comparison and a property, found 'score'"),
            ("score > $0", "1:9: there is no argument $0: 0 are given"),
            ("(score > 1", "1:11: expected ')' to close a parenthesis, found the end"),
            ("score > 1)", "1:10: expected AND, OR, SORT, DISTINCT, LIMIT or the end, found ')'"),
            ("score > 1 LIMIT(1) SORT(score)", "1:20: SORT, DISTINCT and LIMIT stand in this order"),
            ("LIMIT(-1)", "1:7: LIMIT takes a number of rows"),
            ("SORT(score", "1:11: expected ')' or ',' in SORT, found the end"),
            ("SORT score", "1:6: expected '(' after SORT, found 'score'"),
            ("title == 'a", "1:10: the string has no closing quote"),
            ("title == 'a\\q'", "1:12: expected an escape"),
            ("score > 1 # 2", "1:11: '#' means nothing here"),
            ("score IN 5", "1:10: expected '{' after IN"),
            ("score BETWEEN {1}", "1:17: expected ',' between the ends of a range, found '}'"),
            ("and", "1:1: expected a property or a constant, found the keyword 'and'"),
            ("", "1:1: expected a constant, found the end"),
            ("score > 1e", "1:9: expected a number"),
        ])
    func faults(_ text: String, _ expected: String) throws {
        try Self.withTable { _, connection in
            #expect {
                _ = try connection.objects(Note.self).where(text)
            } throws: { error in
                "\(error)".hasPrefix("cannot read the query at \(expected)")
                    || {
                        Issue.record("\(error)"); return true
                    }()
            }
        }
    }

    @Test("every filter can be written and is read as the same", arguments: 0..<8)
    func roundTrip(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        try Self.withTable { table, _ in
            for _ in 0..<300 {
                let filter = Self.filter(table.schema, depth: 4, &random)
                var printer = QueryPrinter(.init(ModelLayout.of(Note.self)))
                let text = printer.print(filter)
                let read = try QueryParser.parse(text, table.schema, printer.arguments)
                #expect(read.filter.normalized == filter.normalized, "\(text), TIDEGAUGE_SEED=\(seed)")
            }
        }
    }

    @Test("normal filters pass the same rows", arguments: 0..<8)
    func normalForm(_ round: Int) throws {
        let seed = SeededRandom.base &+ UInt64(round)
        var random = SeededRandom(seed: seed)
        try Self.withTable { table, _ in
            let row = RowBuffer()
            for _ in 0..<300 {
                let filter = Self.filter(table.schema, depth: 4, &random)
                let note = Note(id: 0, score: random.below(5), title: ["a", "B", "ab", ""][random.below(4)])
                note.group = random.oneIn(3) ? nil : random.below(5)
                note.weight = [0, 1, .nan, -.infinity][random.below(4)]
                note.done = random.oneIn(2)
                table.layout.encode(note, into: row)
                #expect(
                    filter.matches(row.reader) == filter.normalized.matches(row.reader),
                    "\(filter), TIDEGAUGE_SEED=\(seed)")
            }
        }
    }

    private static func filter(_ table: TableSchema, depth: Int, _ random: inout SeededRandom) -> FilterExpression {
        if depth > 0, random.oneIn(2) {
            let parts = (0..<random.below(4)).map { _ in filter(table, depth: depth - 1, &random) }
            switch random.below(3) {
            case 0: return .and(parts)
            case 1: return .or(parts)
            default: return .not(filter(table, depth: depth - 1, &random))
            }
        }
        let column = random.below(table.columns.count)
        let schema = table.columns[column]
        let isNull = schema.isOptional && random.oneIn(4)
        switch random.below(8) {
        case 0: return random.oneIn(2) ? .all : .none
        case 1:
            let values = (0..<random.below(4)).map { _ in value(schema.type, &random) }
            return .column(column, .oneOf(ValueSet(values + (isNull ? [.null] : []))), isOptional: schema.isOptional)
        case 2 where schema.type == .string:
            let matches: [TextMatch] = [.contains, .beginsWith, .endsWith, .like]
            let text = ["a", "B*", "\"q\\\n", ""][random.below(4)]
            let foldsCase = random.oneIn(2)
            let match = foldsCase && random.oneIn(4) ? .equals : matches[random.below(4)]
            return .column(column, .text(TextPattern(match, text, foldsCase: foldsCase)), isOptional: schema.isOptional)
        default:
            let comparisons: [StillingWell.Comparison] = [
                .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
            ]
            return .compare(
                column: column, isNull ? comparisons[random.below(2)] : comparisons[random.below(6)],
                isNull ? .null : value(schema.type, &random), isOptional: schema.isOptional)
        }
    }

    private static func value(_ type: ColumnType, _ random: inout SeededRandom) -> ColumnValue {
        switch type {
        case .int: .int([0, 1, 2, 3, -7, .min, .max][random.below(7)])
        case .double: .double([0, -0.0, 1, 0.1, 1e-300, .infinity, .nan, 3][random.below(8)])
        case .bool: .bool(random.oneIn(2))
        case .string: .string(["", "a", "B", "é", "e\u{301}", "\0'\"\\\n\r\u{7f}🙂"][random.below(6)])
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(random.below(5))))
        case .data: .data(Data([UInt8(random.below(3))]))
        case .uuid: .uuid(uuid)
        case .link, .list: .null
        }
    }

    @Test("a filter describes itself as text")
    func description() {
        let filter: Filter<Note> = \.score > 5 && (\Note.title).hasPrefix("a", caseInsensitive: true) || \.due == nil
        #expect("\(filter)" == #"(score > 5 AND title BEGINSWITH[c] "a") OR due == NULL"#)
    }
}
